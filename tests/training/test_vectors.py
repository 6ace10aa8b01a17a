"""Vectors are written to a file and read again."""

from __future__ import annotations

import numpy as np
import pytest
from torch import nn

from biorel.counts import Counts
from biorel.training.vectors import load_vectors, write_vectors


def test_written_vectors_are_loaded_into_the_rows_of_their_tokens(tmp_path):
    vectors = {"pain": np.array([1.5, -2.25e-3]), "in@@": np.array([0.0, 12345.678]), "β": np.array([1.0, 2.0])}
    path = tmp_path / "vectors.txt"
    write_vectors(vectors, path)
    assert path.read_text(encoding="utf-8").splitlines()[0] == "3 2"
    embedding = nn.Embedding(6, 3)
    before = embedding.weight.detach().clone()
    assert load_vectors(embedding, {"pain": 4, "in@@": 2, "ulcer": 3}, path, Counts()) == 2
    assert embedding.weight[4, :2].tolist() == pytest.approx([1.5, -2.25e-3], abs=1e-6)
    assert embedding.weight[2, :2].tolist() == pytest.approx([0.0, 12345.678])
    assert embedding.weight[[0, 1, 3, 5]].equal(before[[0, 1, 3, 5]])
    assert embedding.weight[:, 2].equal(before[:, 2])
