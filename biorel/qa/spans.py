"""What a reader and its heads are given, what they are trained towards, and what they say of spans."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from biorel.model.batch import Tensors


@dataclass(frozen=True)
class Questions(Tensors):
    """A batch: [B, Q] question and [B, T] passage token ids with their masks, [B, T, 8] features."""

    question_ids: Tensor
    question_mask: Tensor
    token_ids: Tensor
    token_mask: Tensor
    features: Tensor


@dataclass(frozen=True)
class EncodedPassage:
    """A batch of passages as a head reads them.

    Attributes:
        tokens, mask: [B, T, D] and [B, T].
        question: [B, D].
        null: [B], what speaks for the first token beyond its own score, where that is 'no answer'. As a number of its
            own it is learned without the layers that tell the tokens apart, which it would else teach nothing but it.
    """

    tokens: Tensor
    mask: Tensor
    question: Tensor
    null: Tensor | None = None

    def scored(self, scores: Tensor) -> Tensor:
        """[B, T] scores with what speaks for no answer, and -inf where there is no token."""
        if self.null is not None:
            scores = torch.cat([scores[:, :1] + self.null[:, None], scores[:, 1:]], dim=1)
        return masked(scores, self.mask)


@dataclass(frozen=True)
class Targets(Tensors):
    """Where the answers are.

    Attributes:
        starts, ends: [B] first and last token of the one answer that a pointer is trained towards.
        start_labels, end_labels: [B, T] bool, the first and last tokens of all answers.
    """

    starts: Tensor
    ends: Tensor
    start_labels: Tensor
    end_labels: Tensor


@dataclass(frozen=True)
class Direction:
    """The probabilities of spans from one side.

    Attributes:
        anchors: [B, n] the most probable starts (ends, where `backward`).
        anchor: [B, n] their probabilities.
        partner: [B, n, T] the probability of each token to be the other side.
        backward: anchors are ends.
    """

    anchors: Tensor
    anchor: Tensor
    partner: Tensor
    backward: bool = False


def masked(scores: Tensor, mask: Tensor) -> Tensor:
    """Scores with -inf where there is no token."""
    return scores.masked_fill(~mask, float("-inf"))


def best_places(probabilities: Tensor, beam: int) -> tuple[Tensor, Tensor]:
    """[B, T] -> the `beam` most probable places, [B, n] places and [B, n] probabilities."""
    found = probabilities.topk(min(beam, probabilities.shape[1]), dim=1)
    return found.indices, found.values
