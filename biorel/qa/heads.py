"""The heads of a reader: probabilities of answer spans from an encoded passage.

`LabelHead` is DGCNN's. `IndependentHead` (InD), `VectorConditionalHead` (VCP), `MatrixForwardHead` (MaP_F) and
`MatrixEnsembleHead` (MaP_E) are the four strategies that the MaP paper compares.

Each head has `loss` and `span_probabilities`. To add one, write a class and add a line to `HEADS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from biorel.qa.batches import Targets
from biorel.qa.layers import AdditiveAttention, AdditiveScore
from biorel.qa.reader_config import ReaderConfig


@dataclass(frozen=True)
class EncodedPassage:
    """A batch of passages as the input of a head.

    Attributes:
        tokens, mask: [B, T, D] and [B, T]. If the head has a no-answer token, that is the first of the T.
        question: [B, D].
        no_answer: [B], added to the no-answer token's logit. A separate scalar, so that learning it does not disturb
            the layers that distinguish tokens.
    """

    tokens: Tensor
    mask: Tensor
    question: Tensor
    no_answer: Tensor | None = None

    def complete(self, logits: Tensor) -> Tensor:
        """[B, T] logits with `no_answer` added to the first, and -inf at padding."""
        if self.no_answer is not None:
            logits = torch.cat([logits[:, :1] + self.no_answer[:, None], logits[:, 1:]], dim=1)
        return _mask_logits(logits, self.mask)


@dataclass(frozen=True)
class SpanProbabilities:
    """Probabilities of spans in one direction: of an anchor (a start), and of its partner (the end) given the anchor.

    Attributes:
        anchors: [B, n] the most probable starts (ends, if `backward`).
        anchor: [B, n] their probabilities.
        partner: [B, n, T] for each anchor, the probability that each token is the other end of the span.
        backward: anchors are ends and partners are starts.
    """

    anchors: Tensor
    anchor: Tensor
    partner: Tensor
    backward: bool = False


class LabelHead(nn.Module):
    """DGCNN's head, equations 7 and 8: every token is or is not a start, and is or is not an end.

    p_start(i) = p_global sigmoid(a1 . tanh(W1 x_i + b1) + c1), and p_end likewise; p_global is one probability a
    passage. A passage may have no answer (p_global near 0) or several. The loss is binary focal loss.
    """

    has_no_answer_token = False

    def __init__(self, *, width: int, inner: int, focus: float) -> None:
        super().__init__()
        self.start = AdditiveScore(width=width, inner=inner)
        self.end = AdditiveScore(width=width, inner=inner)
        self.pooling = AdditiveAttention(width=width)
        self.answerable = nn.Linear(width, 1)
        self.focus = focus

    def logits(self, passage: EncodedPassage) -> tuple[Tensor, Tensor, Tensor]:
        """[B, T] of starts, [B, T] of ends, [B, 1] of the global score."""
        overall: Tensor = self.answerable(self.pooling(passage.tokens, passage.mask))
        return self.start(passage.tokens), self.end(passage.tokens), overall

    def loss(self, passage: EncodedPassage, targets: Targets) -> Tensor:
        """The focal losses of starts and ends, summed over a passage and averaged over the batch."""
        starts, ends, overall = self.logits(passage)
        losses = [
            focal_loss(overall, logits, labels, self.focus) * passage.mask
            for logits, labels in ((starts, targets.start_labels), (ends, targets.end_labels))
        ]
        return (losses[0] + losses[1]).sum() / len(passage.mask)

    def span_probabilities(self, passage: EncodedPassage, beam: int) -> tuple[SpanProbabilities, ...]:
        starts, ends, overall = self.logits(passage)
        start, end = (overall.sigmoid() * logits.sigmoid() * passage.mask for logits in (starts, ends))
        return (_same_partner_for_all(start, end, beam),)


class IndependentHead(nn.Module):
    """InD of the MaP paper: a softmax over the tokens for the start, and an independent one for the end."""

    has_no_answer_token = True

    def __init__(self, *, width: int, inner: int) -> None:
        super().__init__()
        self.start = AdditiveScore(width=width, inner=inner)
        self.end = AdditiveScore(width=width, inner=inner)

    def logits(self, passage: EncodedPassage) -> tuple[Tensor, Tensor]:
        """[B, T] of starts and [B, T] of ends."""
        return passage.complete(self.start(passage.tokens)), passage.complete(self.end(passage.tokens))

    def loss(self, passage: EncodedPassage, targets: Targets) -> Tensor:
        """The mean of the cross-entropies of start and end."""
        starts, ends = self.logits(passage)
        return (F.cross_entropy(starts, targets.starts) + F.cross_entropy(ends, targets.ends)) / 2

    def span_probabilities(self, passage: EncodedPassage, beam: int) -> tuple[SpanProbabilities, ...]:
        start, end = (logits.softmax(-1) for logits in self.logits(passage))
        return (_same_partner_for_all(start, end, beam),)


class VectorConditionalHead(IndependentHead):
    """VCP, the MaP paper's vector-based conditional approach: a pointer network.

    p_s comes from the question's vector h_s; h_e = GRU(sum_i p_s(i) h_i, h_s); p_e comes from h_e. Both are
    softmax_j(v . tanh(V h_j + W h)), with separate v, V and W. All starts share one p_e.
    """

    def __init__(self, *, width: int, inner: int) -> None:
        super().__init__(width=width, inner=inner)
        self.start_condition = nn.Linear(width, inner, bias=False)
        self.end_condition = nn.Linear(width, inner, bias=False)
        self.step = nn.GRUCell(width, width)

    def logits(self, passage: EncodedPassage) -> tuple[Tensor, Tensor]:
        start_condition = self.start_condition(passage.question)
        starts = passage.complete(_conditioned_score(self.start, passage.tokens, start_condition))
        summary = (starts.softmax(-1)[:, None, :] @ passage.tokens).squeeze(1)  # [B, D]
        state = self.step(summary, passage.question)
        return starts, passage.complete(_conditioned_score(self.end, passage.tokens, self.end_condition(state)))


class ConditionalMatrix(nn.Module):
    """MaP's equation 7 before the softmax: v . tanh(V [h_j ; h_i]) for partners j of anchors i.

    V is kept as its two halves, so that no pair is concatenated.
    """

    def __init__(self, *, width: int, inner: int) -> None:
        super().__init__()
        self.partner = nn.Linear(width, inner)
        self.anchor = nn.Linear(width, inner, bias=False)
        self.score = nn.Linear(inner, 1, bias=False)

    def entries(self, tokens: Tensor, anchors: Tensor, partners: Tensor) -> Tensor:
        """[B, T, D], [B, n] anchors and [B, n, m] partners of each -> [B, n, m] logits."""
        batch, number, size = partners.shape
        of_anchors = _gather_tokens(self.anchor(tokens), anchors)  # [B, n, L]
        of_partners = _gather_tokens(self.partner(tokens), partners.flatten(1)).view(batch, number, size, -1)
        logits: Tensor = self.score((of_partners + of_anchors[:, :, None, :]).tanh())
        return logits.squeeze(-1)

    @torch.no_grad()
    def rows(self, tokens: Tensor, anchors: Tensor) -> Tensor:
        """[B, T, D] and [B, n] -> [B, n, T] logits, one row at a time and without a gradient.

        tanh(x) = 2 sigmoid(2x) - 1, and on a CPU the sigmoid is five times as fast.
        """
        of_partners = 2 * self.partner(tokens)  # [B, T, L]
        of_anchors = 2 * _gather_tokens(self.anchor(tokens), anchors)  # [B, n, L]
        weight = self.score.weight[0]  # [L]
        rows = [(of_partners + anchor[:, None, :]).sigmoid_() @ weight for anchor in of_anchors.unbind(1)]
        return 2 * torch.stack(rows, dim=1) - weight.sum()


class MatrixDirection(nn.Module):
    """One direction of MaP: the distribution of the anchor, and the probability matrix of its partners.

    Args:
        sample: k of equations 8 and 9.
    """

    def __init__(self, *, width: int, inner: int, sample: int) -> None:
        super().__init__()
        self.anchor = AdditiveScore(width=width, inner=inner)
        self.conditional = ConditionalMatrix(width=width, inner=inner)
        self.sample = sample

    def loss(self, passage: EncodedPassage, anchors: Tensor, partners: Tensor) -> Tensor:
        """The mean of the cross-entropies of the anchor and of the flattened matrix, each over its sample.

        The sampled partners are chosen without a gradient, so that the memory kept for the gradient grows with k^2
        and not with T^2.

        Args:
            anchors, partners: [B] the correct tokens.
        """
        logits = passage.complete(self.anchor(passage.tokens))
        sampled_anchors = sample_with_target(logits.detach(), anchors, self.sample)  # [B, k]
        with torch.no_grad():
            rows = self._rows(passage, sampled_anchors)
            targets = partners[:, None].expand(-1, sampled_anchors.shape[1])
            sampled_partners = sample_with_target(rows, targets, self.sample)  # [B, k, k]
        entries = self.conditional.entries(passage.tokens, sampled_anchors, sampled_partners)
        if passage.no_answer is not None:
            is_no_answer = (sampled_anchors == 0)[:, :, None] & (sampled_partners == 0)
            entries = entries + passage.no_answer[:, None, None] * is_no_answer
        # in a text of fewer than k tokens the sample contains padding
        partner_is_real = passage.mask.gather(1, sampled_partners.flatten(1)).view_as(sampled_partners)
        real = passage.mask.gather(1, sampled_anchors)[:, :, None] & partner_is_real
        first = torch.zeros_like(anchors)  # the target is the first of its sample
        anchor_loss = F.cross_entropy(logits.gather(1, sampled_anchors), first)
        return (anchor_loss + F.cross_entropy(_mask_logits(entries, real).flatten(1), first)) / 2

    def span_probabilities(self, passage: EncodedPassage, beam: int, *, backward: bool) -> SpanProbabilities:
        """The rows of the `beam` most probable anchors; a span with another anchor has a probability below 1 / beam."""
        probabilities = passage.complete(self.anchor(passage.tokens)).softmax(-1)
        anchors, anchor = _most_probable(probabilities, beam)
        return SpanProbabilities(anchors, anchor, self._rows(passage, anchors).softmax(-1), backward)

    @torch.no_grad()
    def _rows(self, passage: EncodedPassage, anchors: Tensor) -> Tensor:
        """[B, n, T] logits of all partners of [B, n] anchors."""
        rows = self.conditional.rows(passage.tokens, anchors)
        if passage.no_answer is not None:
            rows[:, :, 0] += passage.no_answer[:, None] * (anchors == 0)
        return _mask_logits(rows, passage.mask[:, None, :])


class MatrixForwardHead(nn.Module):
    """MaP_F: the probability matrix from start to end."""

    has_no_answer_token = True

    def __init__(self, *, width: int, inner: int, sample: int) -> None:
        super().__init__()
        self.forward_way = MatrixDirection(width=width, inner=inner, sample=sample)

    def loss(self, passage: EncodedPassage, targets: Targets) -> Tensor:
        return self.forward_way.loss(passage, targets.starts, targets.ends)

    def span_probabilities(self, passage: EncodedPassage, beam: int) -> tuple[SpanProbabilities, ...]:
        return (self.forward_way.span_probabilities(passage, beam, backward=False),)


class MatrixEnsembleHead(MatrixForwardHead):
    """MaP_E: the ensemble of start to end and end to start, each with its own parameters."""

    def __init__(self, *, width: int, inner: int, sample: int) -> None:
        super().__init__(width=width, inner=inner, sample=sample)
        self.backward_way = MatrixDirection(width=width, inner=inner, sample=sample)

    def loss(self, passage: EncodedPassage, targets: Targets) -> Tensor:
        forward = super().loss(passage, targets)
        return (forward + self.backward_way.loss(passage, targets.ends, targets.starts)) / 2

    def span_probabilities(self, passage: EncodedPassage, beam: int) -> tuple[SpanProbabilities, ...]:
        forward = super().span_probabilities(passage, beam)
        return (*forward, self.backward_way.span_probabilities(passage, beam, backward=True))


Head = LabelHead | IndependentHead | MatrixForwardHead

HEADS: dict[str, Callable[[ReaderConfig], Head]] = {
    "labels": lambda config: LabelHead(width=config.width, inner=config.width, focus=config.focus),
    "independent": lambda config: IndependentHead(width=config.width, inner=config.width),
    "vector": lambda config: VectorConditionalHead(width=config.width, inner=config.width),
    "matrix": lambda config: MatrixForwardHead(width=config.width, inner=config.width, sample=config.sample),
    "matrix-both": lambda config: MatrixEnsembleHead(width=config.width, inner=config.width, sample=config.sample),
}


def focal_loss(overall: Tensor, logits: Tensor, labels: Tensor, focus: float) -> Tensor:
    """[B, T] of -(1 - p)^focus log p, where p is the probability of the label.

    The probability of label 1 is sigmoid(overall) sigmoid(logit). The logarithms are exact for large values, too:
    1 - ab = (e^-x + e^-y + e^-(x+y)) / ((1 + e^-x)(1 + e^-y)).

    Args:
        overall: [B, 1] logits of the global score; logits: [B, T]; labels: [B, T] bool.
    """
    log_one = F.logsigmoid(overall) + F.logsigmoid(logits)
    overall = overall.expand_as(logits)
    log_zero = (
        torch.stack([-overall, -logits, -overall - logits]).logsumexp(0) - F.softplus(-overall) - F.softplus(-logits)
    )
    log_label, log_other = torch.where(labels, log_one, log_zero), torch.where(labels, log_zero, log_one)
    return -(focus * log_other).exp() * log_label


def sample_with_target(scores: Tensor, target: Tensor, size: int) -> Tensor:
    """MaP's equations 8 and 9: the target, then the size - 1 other tokens with the highest scores.

    [..., T] scores and [...] targets -> [..., k] tokens, where k is `size`, or T if that is less.
    """
    with_target_first = scores.scatter(-1, target[..., None], float("inf"))
    return with_target_first.topk(min(size, scores.shape[-1]), dim=-1).indices


def _conditioned_score(score: AdditiveScore, tokens: Tensor, condition: Tensor) -> Tensor:
    """v . tanh(V h_j + W h): [B, T, D] and [B, L] -> [B, T]."""
    logits: Tensor = score.score((score.hidden(tokens) + condition[:, None, :]).tanh())
    return logits.squeeze(-1)


def _same_partner_for_all(start: Tensor, end: Tensor, beam: int) -> SpanProbabilities:
    """[B, T] probabilities of starts and of ends, where all starts share the distribution of the end."""
    anchors, anchor = _most_probable(start, beam)
    return SpanProbabilities(anchors, anchor, end[:, None, :].expand(-1, anchors.shape[1], -1))


def _most_probable(probabilities: Tensor, beam: int) -> tuple[Tensor, Tensor]:
    """[B, T] -> the `beam` most probable tokens, [B, n], and their probabilities, [B, n]."""
    top = probabilities.topk(min(beam, probabilities.shape[1]), dim=1)
    return top.indices, top.values


def _mask_logits(logits: Tensor, mask: Tensor) -> Tensor:
    return logits.masked_fill(~mask, float("-inf"))


def _gather_tokens(values: Tensor, places: Tensor) -> Tensor:
    """[B, T, L] and [B, n] -> [B, n, L]."""
    return values.gather(1, places[:, :, None].expand(-1, -1, values.shape[2]))
