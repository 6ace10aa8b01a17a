# biorel for CPUs and GPUs. torch's default wheel brings the CUDA runtime, so no CUDA base image is needed, and the device
# is chosen when a command runs:
#
#     docker build -t biorel .
#     docker run --rm -v "$PWD:/work" biorel extract abstracts.jsonl
#     docker run --rm --gpus all -v "$PWD:/work" biorel train --dataset dataset --out model
#
# TORCH_INDEX names a package index with another build of torch, for example one without CUDA, which makes a smaller image.
# Left empty, pip uses its default.
FROM python:3.11-slim

ARG TORCH_INDEX=""
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONUNBUFFERED=1

COPY constraints.txt /src/
# torch first and in its own layer: it is the largest, and changes to the code do not rebuild it
RUN pip install -c /src/constraints.txt ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} torch

COPY pyproject.toml README.md LICENSE /src/
COPY biorel /src/biorel
COPY pipelines /src/pipelines
COPY resources /src/resources
RUN pip install -c /src/constraints.txt "/src[export]" && biorel --version && rm -rf /src

RUN useradd --create-home --uid 1000 biorel && mkdir /work && chown biorel /work
USER biorel
WORKDIR /work
ENTRYPOINT ["biorel"]
CMD ["--help"]
