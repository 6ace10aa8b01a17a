"""A small but complete pipeline: its TOML, its data, and a function to run it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from biorel.commands import run
from biorel.config.run import Run
from tests.command_runs import SAMPLE, sample_documents
from tests.recorder import Recorder

PIPELINE = """
[[stage]]
name = "dataset"
command = "build-dataset"
documents = ["{data}/abstracts.txt"]
splits = "{data}/splits.tsv"
ctd = "{data}/ctd"
mesh = ["{data}/mesh.tsv"]
vocabulary = 300
max_tokens = 1000

[[stage]]
name = "model"
command = "train"
dataset = "{dataset}"
width = 8
heads = 2
expansion = 1
epochs = 1
warmup = 1
threads = 1

[[stage]]
name = "evaluation"
command = "evaluate"
model = "{model}"
dataset = "{dataset}"
plots = false

[[stage]]
name = "relations"
command = "extract"
input = "{data}/abstracts.txt"
model = "{model}"
min_score = 0

[[stage]]
name = "onnx"
command = "export"
model = "{model}"
"""
STAGES = ["dataset", "model", "evaluation", "relations"]


def pipeline_data(folder: Path, documents: int = 6) -> Path:
    """Some abstracts with their curations, as the data folder of a pipeline."""
    shutil.copytree(SAMPLE / "ctd", folder / "ctd")
    shutil.copyfile(SAMPLE / "mesh.tsv", folder / "mesh.tsv")
    blocks = sample_documents()[:documents]
    (folder / "abstracts.txt").write_text("".join(blocks), encoding="utf-8")
    splits = zip(blocks, ("train", "train", "train", "dev", "dev", "test"), strict=False)
    (folder / "splits.tsv").write_text("".join(f"{block.split('|')[0]}\t{split}\n" for block, split in splits))
    return folder


def run_pipeline(pipeline: Path, data: Path, out: Path, **options: Any) -> tuple[list[str], dict[str, str]]:
    """Run a pipeline; returns the stages that ran and the message about each stage."""
    recorder = Recorder()
    given = {"pipeline": pipeline, "data": data, "out": out, **options}
    made = run.run(Run.model_validate(given), recorder)
    news = [line.partition(": ") for line in recorder.lines]
    return made.details["ran"], {name: what for name, _, what in news if what.startswith(("runs", "skipped"))}
