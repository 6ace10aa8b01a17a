"""The two heads that MaP is compared with: start and end independent (InD), and the end on the start's vector (VCP)."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from biorel.qa.layers import AdditiveScore, AttentivePooling
from biorel.qa.spans import Direction, EncodedPassage, Targets, best_places, masked


class Independent(nn.Module):
    """InD: p_s = softmax over the tokens, p_e likewise and apart."""

    null = True

    def __init__(self, *, width: int, inner: int) -> None:
        super().__init__()
        self.start = AdditiveScore(width=width, inner=inner)
        self.end = AdditiveScore(width=width, inner=inner)

    def logits(self, read: EncodedPassage) -> tuple[Tensor, Tensor]:
        """[B, T] of starts and of ends."""
        return read.scored(self.start(read.tokens)), read.scored(self.end(read.tokens))

    def loss(self, read: EncodedPassage, targets: Targets) -> Tensor:
        """The mean of both cross-entropies."""
        starts, ends = self.logits(read)
        return (F.cross_entropy(starts, targets.starts) + F.cross_entropy(ends, targets.ends)) / 2

    def directions(self, read: EncodedPassage, beam: int) -> tuple[Direction, ...]:
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

    def logits(self, read: EncodedPassage) -> tuple[Tensor, Tensor]:
        starts = read.scored(_conditioned(self.start, read.tokens, self.start_condition(read.question)))
        summary = (starts.softmax(-1)[:, None, :] @ read.tokens).squeeze(1)  # [B, D]
        state = self.step(summary, read.question)
        return starts, read.scored(_conditioned(self.end, read.tokens, self.end_condition(state)))


def _conditioned(scores: AdditiveScore, tokens: Tensor, condition: Tensor) -> Tensor:
    """v . tanh(V h_j + W h): [B, T, D] and [B, L] -> [B, T]."""
    conditioned: Tensor = scores.score((scores.hidden(tokens) + condition[:, None, :]).tanh())
    return conditioned.squeeze(-1)


# MERGED from reader.labels: DGCNN's own head: every token is or is not a start, an end; all scaled by a global score (equations 7 and 8).
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

    def logits(self, read: EncodedPassage) -> tuple[Tensor, Tensor, Tensor]:
        """[B, T] of starts, [B, T] of ends, [B, 1] of the global score."""
        overall: Tensor = self.answerable(self.pooling(read.tokens, read.mask))
        return self.start(read.tokens), self.end(read.tokens), overall

    def loss(self, read: EncodedPassage, targets: Targets) -> Tensor:
        """The focal losses of both columns: summed over a passage, averaged over the batch."""
        starts, ends, overall = self.logits(read)
        both = [
            focal_loss(overall, scores, labels, self.focus) * read.mask
            for scores, labels in ((starts, targets.start_labels), (ends, targets.end_labels))
        ]
        return (both[0] + both[1]).sum() / len(read.mask)

    def directions(self, read: EncodedPassage, beam: int) -> tuple[Direction, ...]:
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


# MERGED from reader.matrix: MaP: an end distribution of its own for every start (a probability matrix), trained on a sample of it.
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

    def loss(self, read: EncodedPassage, anchors: Tensor, partners: Tensor) -> Tensor:
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

    def direction(self, read: EncodedPassage, beam: int, *, backward: bool) -> Direction:
        """The rows of the `beam` most probable anchors; a span of any other has a probability below 1 / beam."""
        probabilities = read.scored(self.anchor(read.tokens)).softmax(-1)
        anchors, anchor = best_places(probabilities, beam)
        return Direction(anchors, anchor, self._rows(read, anchors).softmax(-1), backward)

    @torch.no_grad()
    def _rows(self, read: EncodedPassage, anchors: Tensor) -> Tensor:
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

    def loss(self, read: EncodedPassage, targets: Targets) -> Tensor:
        return self.forward_way.loss(read, targets.starts, targets.ends)

    def directions(self, read: EncodedPassage, beam: int) -> tuple[Direction, ...]:
        return (self.forward_way.direction(read, beam, backward=False),)


class MatrixBoth(MatrixForward):
    """MaP_E: from the start to the end and from the end to the start, each with parameters of its own."""

    def __init__(self, *, width: int, inner: int, sample: int) -> None:
        super().__init__(width=width, inner=inner, sample=sample)
        self.backward_way = OneWay(width=width, inner=inner, sample=sample)

    def loss(self, read: EncodedPassage, targets: Targets) -> Tensor:
        return (super().loss(read, targets) + self.backward_way.loss(read, targets.ends, targets.starts)) / 2

    def directions(self, read: EncodedPassage, beam: int) -> tuple[Direction, ...]:
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
