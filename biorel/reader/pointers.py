"""The two heads that MaP is compared with: start and end independent (InD), and the end on the start's vector (VCP)."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from biorel.reader.attention import AdditiveScore
from biorel.reader.spans import Direction, Read, Targets, best_places


class Independent(nn.Module):
    """InD: p_s = softmax over the tokens, p_e likewise and apart."""

    null = True

    def __init__(self, *, width: int, inner: int) -> None:
        super().__init__()
        self.start = AdditiveScore(width=width, inner=inner)
        self.end = AdditiveScore(width=width, inner=inner)

    def logits(self, read: Read) -> tuple[Tensor, Tensor]:
        """[B, T] of starts and of ends."""
        return read.scored(self.start(read.tokens)), read.scored(self.end(read.tokens))

    def loss(self, read: Read, targets: Targets) -> Tensor:
        """The mean of both cross-entropies."""
        starts, ends = self.logits(read)
        return (F.cross_entropy(starts, targets.starts) + F.cross_entropy(ends, targets.ends)) / 2

    def directions(self, read: Read, beam: int) -> tuple[Direction, ...]:
        starts, ends = (logits.softmax(-1) for logits in self.logits(read))
        anchors, anchor = best_places(starts, beam)
        return (Direction(anchors, anchor, ends[:, None, :].expand(-1, anchors.shape[1], -1)),)


class VectorConditional(Independent):
    """VCP: a pointer network. p_s from the question's vector h_s; h_e = GRU(sum_i p_s(i) h_i, h_s); p_e from h_e.

    Both are softmax_j of v . tanh(V h_j + W h), with v, V and W of their own. There is one p_e, whatever the start is.
    """

    def __init__(self, *, width: int, inner: int) -> None:
        super().__init__(width=width, inner=inner)
        self.start_condition = nn.Linear(width, inner, bias=False)
        self.end_condition = nn.Linear(width, inner, bias=False)
        self.step = nn.GRUCell(width, width)

    def logits(self, read: Read) -> tuple[Tensor, Tensor]:
        starts = read.scored(_conditioned(self.start, read.tokens, self.start_condition(read.question)))
        summary = (starts.softmax(-1)[:, None, :] @ read.tokens).squeeze(1)  # [B, D]
        state = self.step(summary, read.question)
        return starts, read.scored(_conditioned(self.end, read.tokens, self.end_condition(state)))


def _conditioned(scores: AdditiveScore, tokens: Tensor, condition: Tensor) -> Tensor:
    """v . tanh(V h_j + W h): [B, T, D] and [B, L] -> [B, T]."""
    conditioned: Tensor = scores.score((scores.hidden(tokens) + condition[:, None, :]).tanh())
    return conditioned.squeeze(-1)
