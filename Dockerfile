# biorel with CUDA: torch's wheel from PyPI carries the CUDA runtime, so no CUDA base image is needed. The device is chosen at
# run time, so one image serves with and without a GPU:
#
#     docker build -t biorel .
#     docker run --rm -v "$PWD:/work" biorel extract abstracts.jsonl
#     docker run --rm --gpus all -v "$PWD:/work" biorel train --dataset dataset --out model
#
# For a smaller image without CUDA: --build-arg TORCH_INDEX=https://download.pytorch.org/whl/cpu
FROM python:3.11-slim

ARG TORCH_INDEX=https://pypi.org/simple
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONUNBUFFERED=1

# torch first and alone: the largest layer does not change with the code
RUN pip install --index-url "$TORCH_INDEX" "torch>=2.8,<2.14"

COPY pyproject.toml README.md LICENSE /src/
COPY biorel /src/biorel
COPY pipelines /src/pipelines
COPY resources /src/resources
RUN pip install "/src[export]" && biorel --version && rm -rf /src

RUN useradd --create-home --uid 1000 biorel && mkdir /work && chown biorel /work
USER biorel
WORKDIR /work
ENTRYPOINT ["biorel"]
CMD ["--help"]
