"""A small pipeline and its data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.commands.pipelines import PIPELINE, pipeline_data, run_pipeline


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Six abstracts with their curations, as the data folder of a pipeline."""
    return pipeline_data(tmp_path / "data")


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    path = tmp_path / "pipeline.toml"
    path.write_text(PIPELINE.partition('[[stage]]\nname = "onnx"')[0])
    return path


@pytest.fixture
def go(pipeline: Path, data: Path, tmp_path: Path):
    """Runs the pipeline; returns the stages that ran and the message about each stage."""

    def _go(**options: Any) -> tuple[list[str], dict[str, str]]:
        return run_pipeline(**{"pipeline": pipeline, "data": data, "out": tmp_path / "out", **options})

    return _go
