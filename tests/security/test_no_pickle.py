"""biorel unpickles nothing that it opens: a payload in any file of a folder is rejected and never runs.

`tests/test_architecture.py` searches the code for such calls; these tests open the files.
"""

from __future__ import annotations

import os
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from biorel.errors import BiorelError
from biorel.linking.linker import load_linker
from biorel.ner.spacy_model import load_spacy
from biorel.qa.folder import open_reader
from biorel.records import Document
from biorel.resources import resource
from biorel.tables import read_table
from biorel.training.checkpoint import FILE, TrainingState, restore_state
from biorel.training.model_folder import open_model
from biorel.training.optim import WeightAverage, build_optimizer
from tests.builders import tiny_bran

FOLDERS = {
    "cdr": open_model,
    "reader": lambda folder: open_reader(folder, torch.device("cpu")),
    "linker": load_linker,
    "tagger": lambda folder: load_spacy(str(folder)),
}
FILES = [
    (name, str(path.relative_to(resource("models", name))))
    for name in FOLDERS
    for path in sorted(resource("models", name).rglob("*"))
    if path.is_file()
]


class Payload:
    """Creates a folder when it is unpickled."""

    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self):
        return os.mkdir, (str(self.canary),)


def pickles(canary: Path, folder: Path) -> list[bytes]:
    """The payload as pickle, torch and numpy write it."""
    torch.save(Payload(canary), folder / "torch")
    np.save(folder / "numpy.npy", np.array([Payload(canary)], dtype=object), allow_pickle=True)
    return [pickle.dumps(Payload(canary)), (folder / "torch").read_bytes(), (folder / "numpy.npy").read_bytes()]


def test_the_payload_works(tmp_path):
    canary = tmp_path / "canary"
    pickle.loads(pickles(canary, tmp_path)[0])  # noqa: S301 - written by this test
    assert canary.exists()


@pytest.mark.parametrize(("name", "file"), FILES)
def test_no_file_of_a_model_folder_is_unpickled(name, file, tmp_path):
    canary, copy = tmp_path / "canary", tmp_path / name
    shutil.copytree(resource("models", name), copy)
    # spaCy opens slowly, and only its vectors are a numpy file
    contents = pickles(canary, tmp_path)
    for content in contents if name != "tagger" or file == "vocab/vectors" else contents[:1]:
        (copy / file).write_bytes(content)
        try:
            FOLDERS[name](copy)
        except BiorelError as error:
            assert str(copy) in error.message  # noqa: PT017 - a file that is never read raises nothing
        assert not canary.exists()


def test_neither_a_checkpoint_nor_a_table_is_unpickled(tmp_path):
    canary = tmp_path / "canary"
    model = tiny_bran()
    optimizer = build_optimizer(model, rate=1e-3, betas=(0.9, 0.999), epsilon=1e-8, weight_decay=0.0)
    state = TrainingState(model, optimizer, WeightAverage(model, 0.9))
    for content in pickles(canary, tmp_path):
        (tmp_path / FILE).write_bytes(content)
        with pytest.raises(BiorelError, match="damaged checkpoint"):
            restore_state(state, tmp_path, "key")
        (tmp_path / "documents.parquet").write_bytes(content)
        with pytest.raises(BiorelError, match="not a Parquet file"):
            list(read_table(tmp_path / "documents.parquet", Document))
        assert not canary.exists()
