"""Fixtures that several rooms of tests need."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from biorel.counts import Counts

REPOSITORY = Path(__file__).parents[1]

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def shared_data() -> Path:
    """The folder of real data, which no checkout holds; a test that needs it is skipped where it is absent."""
    folder = Path(os.environ.get("BIOREL_SHARED_DATA", REPOSITORY.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}; set BIOREL_SHARED_DATA to the folder that holds it")
    return folder


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file under the test's folder and gives its path; a name that ends in .gz is packed."""

    def _write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content.encode("utf-8") if isinstance(content, str) else content
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return _write


@pytest.fixture
def counts() -> Counts:
    return Counts()


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """16 abstracts of the sample, by CTD's curations, made once for all tests. Read only."""
    # torch is imported by the tests that need it only
    from tests.command_runs import sample_dataset

    return sample_dataset(tmp_path_factory.mktemp("sample"))


@pytest.fixture(scope="session")
def model(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of this dataset; it knows little, and says so in numbers. Read only."""
    from tests.command_runs import tiny_model

    return tiny_model(dataset, tmp_path_factory.mktemp("trained") / "model", epochs=6)
