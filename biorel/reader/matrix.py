"""MaP: an end distribution of its own for every start (a probability matrix), trained on a sample of it.

The text of the paper that biorel was written from has lost its equations; read from its words:
P_e(i, j) = softmax over j of v . tanh(V [h_j ; h_i]) (equation 7), k starts, the right one and the k - 1 most probable
others (8, 9), k ends in each of their rows likewise, and a cross-entropy over the flattened k x k matrix (10): "the
number of candidate probabilities", k^2, competes with the right one, so the logits are normalised over all of it. (A
softmax over each row alone would give the rows of wrong starts no gradient, and nothing to sample them for.)
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from biorel.reader.attention import AdditiveScore
from biorel.reader.spans import Direction, Read, Targets, best_places, masked


class Conditional(nn.Module):
    """v . tanh(V [h_j ; h_i]) for partners j of anchors i, with V split into its halves, so that no pair is built."""

    def __init__(self, *, width: int, inner: int) -> None:
        super().__init__()
        self.partner = nn.Linear(width, inner)
        self.anchor = nn.Linear(width, inner, bias=False)
        self.score = nn.Linear(inner, 1, bias=False)

    def entries(self, tokens: Tensor, anchors: Tensor, partners: Tensor) -> Tensor:
        """[B, T, D], [B, n] anchors and [B, n, m] partners of each -> [B, n, m] logits."""
        batch, number, size = partners.shape
        of_anchors = _taken(self.anchor(tokens), anchors)  # [B, n, L]
        of_partners = _taken(self.partner(tokens), partners.flatten(1)).view(batch, number, size, -1)
        logits: Tensor = self.score((of_partners + of_anchors[:, :, None, :]).tanh())
        return logits.squeeze(-1)

    @torch.no_grad()
    def rows(self, tokens: Tensor, anchors: Tensor) -> Tensor:
        """[B, T, D] and [B, n] -> [B, n, T] logits, a row after the other, without a gradient.

        tanh(x) is 2 sigmoid(2x) - 1, and a CPU knows the sigmoid five times as fast.
        """
        of_partners = 2 * self.partner(tokens)  # [B, T, L]
        of_anchors = 2 * _taken(self.anchor(tokens), anchors)  # [B, n, L]
        weight = self.score.weight[0]  # [L]
        rows = [(of_partners + one[:, None, :]).sigmoid_() @ weight for one in of_anchors.unbind(1)]
        return 2 * torch.stack(rows, dim=1) - weight.sum()


class OneWay(nn.Module):
    """One direction: the anchor's distribution, and the matrix of its partners."""

    def __init__(self, *, width: int, inner: int, sample: int) -> None:
        super().__init__()
        self.anchor = AdditiveScore(width=width, inner=inner)
        self.conditional = Conditional(width=width, inner=inner)
        self.sample = sample

    def loss(self, read: Read, anchors: Tensor, partners: Tensor) -> Tensor:
        """The mean of the cross-entropies of the anchor and of the matrix, each over its sample.

        What is kept for the gradient grows with the sample's square, not with that of T: which partners are the most
        probable ones is found without a gradient.

        Args:
            anchors, partners: [B] the right places.
        """
        logits = read.scored(self.anchor(read.tokens))
        chosen = sampled(logits.detach(), anchors, self.sample)  # [B, k], the right one first
        with torch.no_grad():
            rows = self._rows(read, chosen)
            inside = sampled(rows, partners[:, None].expand(-1, chosen.shape[1]), self.sample)  # [B, k, k]
        entries = self.conditional.entries(read.tokens, chosen, inside)
        if read.null is not None:
            entries = entries + read.null[:, None, None] * ((chosen == 0)[:, :, None] & (inside == 0))
        # a text shorter than the sample fills it with padding
        real = read.mask.gather(1, chosen)[:, :, None] & _taken_mask(read.mask, inside)
        right = torch.zeros_like(anchors)
        of_anchor = F.cross_entropy(logits.gather(1, chosen), right)
        return (of_anchor + F.cross_entropy(masked(entries, real).flatten(1), right)) / 2

    def direction(self, read: Read, beam: int, *, backward: bool) -> Direction:
        """The rows of the `beam` most probable anchors; a span of any other has a probability below 1 / beam."""
        probabilities = read.scored(self.anchor(read.tokens)).softmax(-1)
        anchors, anchor = best_places(probabilities, beam)
        return Direction(anchors, anchor, self._rows(read, anchors).softmax(-1), backward)

    @torch.no_grad()
    def _rows(self, read: Read, anchors: Tensor) -> Tensor:
        """[B, n, T] logits of all partners of the anchors."""
        rows = self.conditional.rows(read.tokens, anchors)
        if read.null is not None:
            rows[:, :, 0] += read.null[:, None] * (anchors == 0)
        return masked(rows, read.mask[:, None, :])


class MatrixForward(nn.Module):
    """MaP_F: from the start to the end."""

    null = True

    def __init__(self, *, width: int, inner: int, sample: int) -> None:
        super().__init__()
        self.forward_way = OneWay(width=width, inner=inner, sample=sample)

    def loss(self, read: Read, targets: Targets) -> Tensor:
        return self.forward_way.loss(read, targets.starts, targets.ends)

    def directions(self, read: Read, beam: int) -> tuple[Direction, ...]:
        return (self.forward_way.direction(read, beam, backward=False),)


class MatrixBoth(MatrixForward):
    """MaP_E: from the start to the end and from the end to the start, each with parameters of its own."""

    def __init__(self, *, width: int, inner: int, sample: int) -> None:
        super().__init__(width=width, inner=inner, sample=sample)
        self.backward_way = OneWay(width=width, inner=inner, sample=sample)

    def loss(self, read: Read, targets: Targets) -> Tensor:
        return (super().loss(read, targets) + self.backward_way.loss(read, targets.ends, targets.starts)) / 2

    def directions(self, read: Read, beam: int) -> tuple[Direction, ...]:
        return (*super().directions(read, beam), self.backward_way.direction(read, beam, backward=True))


def sampled(scores: Tensor, right: Tensor, size: int) -> Tensor:
    """The right place and the size - 1 others with the highest scores: [..., T] and [...] -> [..., k], it first."""
    with_right = scores.scatter(-1, right[..., None], float("inf"))
    return with_right.topk(min(size, scores.shape[-1]), dim=-1).indices


def _taken(values: Tensor, places: Tensor) -> Tensor:
    """[B, T, L] and [B, n] -> [B, n, L]."""
    return values.gather(1, places[:, :, None].expand(-1, -1, values.shape[2]))


def _taken_mask(mask: Tensor, places: Tensor) -> Tensor:
    """[B, T] and [B, n, m] -> [B, n, m]."""
    return mask.gather(1, places.flatten(1)).view_as(places)
