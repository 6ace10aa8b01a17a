"""One small dataset and one small model, made once for all tests of the commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.commands import sample_dataset, tiny_model
from tests.stages.pipelines import PIPELINE, pipeline_data, run_pipeline


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """16 abstracts of the sample, by CTD's curations. Read only."""
    return sample_dataset(tmp_path_factory.mktemp("sample"))


@pytest.fixture(scope="session")
def model(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of this dataset; it knows little, and says so in numbers. Read only."""
    return tiny_model(dataset, tmp_path_factory.mktemp("trained") / "model", epochs=6)


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
    """Runs the pipeline; gives the stages that ran and what was said of each."""

    def _go(**options: Any) -> tuple[list[str], dict[str, str]]:
        return run_pipeline(**{"pipeline": pipeline, "data": data, "out": tmp_path / "out", **options})

    return _go
