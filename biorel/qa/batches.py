"""Passages into tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from biorel.qa.features import FEATURES
from biorel.qa.passages import Passage
from biorel.qa.spans import Questions, Targets


def collate(passages: Sequence[Passage]) -> Questions:
    """The tensors of some passages, padded at the end with zeros."""
    question_ids, question_mask = _padded([passage.question_ids for passage in passages])
    token_ids, token_mask = _padded([passage.token_ids for passage in passages])
    features = np.zeros((*token_ids.shape, FEATURES), dtype=np.float32)
    for row, passage in enumerate(passages):
        features[row, : len(passage.token_ids)] = passage.features
    return Questions(question_ids, question_mask, token_ids, token_mask, torch.from_numpy(features))


def _padded(rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    ids = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    mask = np.zeros(ids.shape, dtype=bool)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = row
        mask[number, : len(row)] = True
    return torch.from_numpy(ids), torch.from_numpy(mask)


def targets(passages: Sequence[Passage], *, null: bool, random: np.random.Generator) -> Targets:
    """Where the answers are; of several the pointers are trained towards one, drawn anew each time.

    Args:
        null: places are counted with a null token before the first, which is the answer of a passage without one.
    """
    shift = int(null)
    length = max(len(passage.token_ids) for passage in passages)
    labels = np.zeros((2, len(passages), length), dtype=bool)
    places = np.zeros((2, len(passages)), dtype=np.int64)
    for row, passage in enumerate(passages):
        for side in (0, 1):
            labels[side, row, [answer[side] for answer in passage.answers]] = True
        if passage.answers:
            places[:, row] = np.add(passage.answers[int(random.integers(len(passage.answers)))], shift)
    return Targets(*map(torch.from_numpy, (*places, *labels)))
