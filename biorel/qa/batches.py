"""Turns passages and their answers into padded tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from biorel.model.batch import Tensors
from biorel.qa.features import FEATURES
from biorel.qa.passages import Passage


@dataclass(frozen=True)
class QuestionBatch(Tensors):
    """Questions, each with one passage. A mask is True where a token is real.

    Attributes:
        question_ids, question_mask: [B, Q].
        token_ids, token_mask: [B, T], of the passages.
        features: [B, T, 8], of the passages.
    """

    question_ids: Tensor
    question_mask: Tensor
    token_ids: Tensor
    token_mask: Tensor
    features: Tensor


@dataclass(frozen=True)
class Targets(Tensors):
    """The correct answers of a batch.

    Attributes:
        starts, ends: [B] first and last token of one answer, for heads that predict a single span.
        start_labels, end_labels: [B, T] bool, the first and last tokens of all answers.
    """

    starts: Tensor
    ends: Tensor
    start_labels: Tensor
    end_labels: Tensor


def collate(passages: Sequence[Passage]) -> QuestionBatch:
    """Put passages into tensors, which are padded with zeros at the end."""
    question_ids, question_mask = _pad([passage.question_ids for passage in passages])
    token_ids, token_mask = _pad([passage.token_ids for passage in passages])
    features = np.zeros((*token_ids.shape, FEATURES), dtype=np.float32)
    for row, passage in enumerate(passages):
        features[row, : len(passage.token_ids)] = passage.features
    return QuestionBatch(question_ids, question_mask, token_ids, token_mask, torch.from_numpy(features))


def collate_targets(passages: Sequence[Passage], *, no_answer_token: bool, random: np.random.Generator) -> Targets:
    """Put the answers of passages into tensors. If a passage has several, one is drawn for `starts` and `ends`.

    Args:
        no_answer_token: `starts` and `ends` count a no-answer token before the first token. It is the target of a
            passage without an answer.
    """
    shift = int(no_answer_token)
    length = max(len(passage.token_ids) for passage in passages)
    labels = np.zeros((2, len(passages), length), dtype=bool)
    spans = np.zeros((2, len(passages)), dtype=np.int64)
    for row, passage in enumerate(passages):
        for side in (0, 1):
            labels[side, row, [answer[side] for answer in passage.answers]] = True
        if passage.answers:
            spans[:, row] = np.add(passage.answers[int(random.integers(len(passage.answers)))], shift)
    return Targets(*map(torch.from_numpy, (*spans, *labels)))


def _pad(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """[B, T] ids and mask."""
    ids = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    mask = np.zeros(ids.shape, dtype=bool)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = row
        mask[number, : len(row)] = True
    return torch.from_numpy(ids), torch.from_numpy(mask)
