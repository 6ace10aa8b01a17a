"""DGCNN's own head: every token is or is not a start, an end; all scaled by a global score (equations 7 and 8)."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from biorel.reader.attention import AdditiveScore, AttentivePooling
from biorel.reader.spans import Direction, Read, Targets, best_places


class Labels(nn.Module):
    """p_start = p_global sigmoid(a1 . tanh(W1 x + b1) + c1), p_end alike; trained with binary focal loss.

    No answer is p_global near 0; several answers are several ones.
    """

    null = False

    def __init__(self, *, width: int, inner: int, focus: float) -> None:
        super().__init__()
        self.start = AdditiveScore(width=width, inner=inner)
        self.end = AdditiveScore(width=width, inner=inner)
        self.pooling = AttentivePooling(width=width)
        self.answerable = nn.Linear(width, 1)
        self.focus = focus

    def logits(self, read: Read) -> tuple[Tensor, Tensor, Tensor]:
        """[B, T] of starts, [B, T] of ends, [B, 1] of the global score."""
        overall: Tensor = self.answerable(self.pooling(read.tokens, read.mask))
        return self.start(read.tokens), self.end(read.tokens), overall

    def loss(self, read: Read, targets: Targets) -> Tensor:
        """The focal losses of both columns: summed over a passage, averaged over the batch."""
        starts, ends, overall = self.logits(read)
        both = [
            focal_loss(overall, scores, labels, self.focus) * read.mask
            for scores, labels in ((starts, targets.start_labels), (ends, targets.end_labels))
        ]
        return (both[0] + both[1]).sum() / len(read.mask)

    def directions(self, read: Read, beam: int) -> tuple[Direction, ...]:
        starts, ends, overall = self.logits(read)
        start, end = (overall.sigmoid() * scores.sigmoid() * read.mask for scores in (starts, ends))
        anchors, anchor = best_places(start, beam)
        return (Direction(anchors, anchor, end[:, None, :].expand(-1, anchors.shape[1], -1)),)


def focal_loss(overall: Tensor, scores: Tensor, labels: Tensor, focus: float) -> Tensor:
    """-(1 - p)^focus log p of the label's own probability; p of a 1 is sigmoid(overall) sigmoid(scores).

    Both logarithms are exact far from 0, too: 1 - ab = (e^-x + e^-y + e^-(x+y)) / ((1 + e^-x)(1 + e^-y)).

    Args:
        overall: [B, 1]; scores: [B, T]; labels: [B, T] bool.
    """
    of_one = F.logsigmoid(overall) + F.logsigmoid(scores)
    overall = overall.expand_as(scores)
    of_zero = (
        torch.stack([-overall, -scores, -overall - scores]).logsumexp(0) - F.softplus(-overall) - F.softplus(-scores)
    )
    own, other = torch.where(labels, of_one, of_zero), torch.where(labels, of_zero, of_one)
    return -(focus * other).exp() * own
