"""One small dataset and one small model, made once for all tests of the commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import sample_dataset, tiny_model


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """16 abstracts of the sample, by CTD's curations. Read only."""
    return sample_dataset(tmp_path_factory.mktemp("sample"))


@pytest.fixture(scope="session")
def model(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of this dataset; it knows little, and says so in numbers. Read only."""
    return tiny_model(dataset, tmp_path_factory.mktemp("trained") / "model", epochs=6)
