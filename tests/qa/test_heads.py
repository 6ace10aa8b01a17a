"""The heads of DGCNN and MaP: probabilities and losses against formulas in float64; memory of the sampled loss."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from biorel.qa.batches import Targets
from biorel.qa.heads import (
    EncodedPassage,
    IndependentHead,
    LabelHead,
    MatrixDirection,
    MatrixEnsembleHead,
    MatrixForwardHead,
    VectorConditionalHead,
    focal_loss,
    sample_with_target,
)
from tests.builders import scrambled
from tests.qa import naive

WIDTH, INNER = 4, 5


def encoded(batch=1, length=7, seed=0, real=None):
    lengths = torch.tensor([[size] for size in real or (length,) * batch])
    return EncodedPassage(
        naive.random_tokens(batch, length, WIDTH, seed=seed),
        torch.arange(length)[None] < lengths,
        naive.random_tokens(batch, WIDTH, seed=9),
    )


def targets(*spans):
    starts, ends = (torch.tensor(side) for side in zip(*spans, strict=True))
    labels = torch.zeros(len(spans), 1, dtype=torch.bool)
    return Targets(starts, ends, labels, labels)


def test_label_head_is_equations_7_and_8():
    head = scrambled(LabelHead(width=3, inner=5, focus=2.0))
    x = naive.random_tokens(1, 6, 3)
    passage = EncodedPassage(x, torch.ones(1, 6, dtype=torch.bool), naive.random_tokens(1, 3))
    real = x[0].numpy()
    weights = naive.softmax(
        naive.additive(real, naive.linear(head, "pooling.scores.hidden"), naive.linear(head, "pooling.scores.score"))
    )
    weight, bias = naive.linear(head, "answerable")
    overall = naive.sigmoid(weight[0] @ (weights @ real) + bias[0])
    start, end = (
        overall
        * naive.sigmoid(naive.additive(real, naive.linear(head, f"{side}.hidden"), naive.linear(head, f"{side}.score")))
        for side in ("start", "end")
    )
    (direction,) = head.span_probabilities(passage, 6)
    order = np.argsort(-start)
    assert direction.anchors[0].tolist() == order.tolist()
    np.testing.assert_allclose(direction.anchor[0].detach().numpy(), start[order], atol=1e-12)
    np.testing.assert_allclose(direction.partner[0, 0].detach().numpy(), end, atol=1e-12)


@pytest.mark.parametrize("focus", [0.0, 2.0])
def test_focal_loss_matches_its_formula(focus):
    overall, scores = naive.random_tokens(4, 1, seed=1) * 3, naive.random_tokens(4, 7, seed=2) * 3
    labels = naive.random_tokens(4, 7, seed=3) > 0.5
    p = naive.sigmoid(overall.numpy()) * naive.sigmoid(scores.numpy())
    own = np.where(labels.numpy(), p, 1 - p)
    expected = -((1 - own) ** focus) * np.log(own)
    np.testing.assert_allclose(focal_loss(overall, scores, labels, focus).numpy(), expected, atol=1e-9)


@pytest.mark.parametrize("value", [-80.0, 80.0])
def test_focal_loss_and_gradient_are_finite_for_extreme_logits(value):
    """No logarithm of a rounded 0 is taken."""
    overall, scores = (torch.full((1, n), value, requires_grad=True) for n in (1, 2))
    loss = focal_loss(overall, scores, torch.tensor([[True, False]]), 2.0)
    loss.sum().backward()
    assert torch.isfinite(loss).all()
    assert torch.isfinite(overall.grad).all()
    assert torch.isfinite(scores.grad).all()


def test_padding_does_not_change_the_loss_of_the_label_head():
    head = scrambled(LabelHead(width=3, inner=4, focus=2.0))
    x, question = naive.random_tokens(1, 8, 3), naive.random_tokens(1, 3)
    none = torch.zeros(1, dtype=torch.int64)

    def loss(length):
        labels = torch.zeros(1, length, dtype=torch.bool)
        labels[0, 2] = True
        passage = EncodedPassage(x[:, :length], torch.arange(length)[None] < 5, question)
        return head.loss(passage, Targets(none, none, labels, labels))

    torch.testing.assert_close(loss(8), loss(5))


def test_independent_head_is_two_softmaxes():
    head = scrambled(IndependentHead(width=WIDTH, inner=INNER))
    passage = encoded()
    start, end = (
        naive.softmax(
            naive.additive(
                passage.tokens[0].numpy(), naive.linear(head, f"{side}.hidden"), naive.linear(head, f"{side}.score")
            )
        )
        for side in ("start", "end")
    )
    (direction,) = head.span_probabilities(passage, 7)
    got = torch.zeros(7, dtype=torch.float64).scatter(0, direction.anchors[0], direction.anchor[0].detach())
    np.testing.assert_allclose(got.numpy(), start, atol=1e-12)
    np.testing.assert_allclose(direction.partner[0, 3].detach().numpy(), end, atol=1e-12)
    expected = -(np.log(start[2]) + np.log(end[5])) / 2
    assert head.loss(passage, targets((2, 5))).item() == pytest.approx(expected)


def test_vector_conditional_head_is_a_pointer_network():
    head = scrambled(VectorConditionalHead(width=WIDTH, inner=INNER))
    passage = encoded()
    h, q = passage.tokens[0].numpy(), passage.question[0].numpy()

    def scores(side, condition):
        (v, bias), (weight, shift) = naive.linear(head, f"{side}.score"), naive.linear(head, f"{side}.hidden")
        shift = shift + naive.parameter(head, f"{side}_condition.weight") @ condition
        return naive.additive(h, (weight, shift), (v, bias))

    start = naive.softmax(scores("start", q))
    x = start @ h
    of_x = naive.parameter(head, "step.weight_ih") @ x + naive.parameter(head, "step.bias_ih")
    of_q = naive.parameter(head, "step.weight_hh") @ q + naive.parameter(head, "step.bias_hh")
    reset, update = (naive.sigmoid(of_x[i : i + WIDTH] + of_q[i : i + WIDTH]) for i in (0, WIDTH))
    fresh = np.tanh(of_x[2 * WIDTH :] + reset * of_q[2 * WIDTH :])
    state = (1 - update) * fresh + update * q
    end = naive.softmax(scores("end", state))
    (direction,) = head.span_probabilities(passage, 7)
    got = torch.zeros(7, dtype=torch.float64).scatter(0, direction.anchors[0], direction.anchor[0].detach())
    np.testing.assert_allclose(got.numpy(), start, atol=1e-12)
    np.testing.assert_allclose(direction.partner[0, 0].detach().numpy(), end, atol=1e-12)


def naive_matrix(way, h):
    """Logits z(i, j) = v . tanh(V [h_j ; h_i]), with V as one matrix."""
    joined = np.concatenate(
        [naive.parameter(way, "conditional.partner.weight"), naive.parameter(way, "conditional.anchor.weight")], axis=1
    )
    bias, v = naive.parameter(way, "conditional.partner.bias"), naive.parameter(way, "conditional.score.weight")[0]
    length = len(h)
    return np.array(
        [[v @ np.tanh(joined @ np.concatenate([h[j], h[i]]) + bias) for j in range(length)] for i in range(length)]
    )


def test_matrix_is_equation_7():
    head = scrambled(MatrixForwardHead(width=WIDTH, inner=INNER, sample=20))
    passage = encoded()
    z = naive_matrix(head.forward_way, passage.tokens[0].numpy())
    (direction,) = head.span_probabilities(passage, 7)
    for row, anchor in enumerate(direction.anchors[0].tolist()):
        np.testing.assert_allclose(direction.partner[0, row].detach().numpy(), naive.softmax(z[anchor]), atol=1e-12)
    assert not direction.backward


def full_loss(way, passage, row, length, anchor, partner):
    h = passage.tokens[row, :length].numpy()
    z = naive_matrix(way, h)
    first = naive.softmax(naive.additive(h, naive.linear(way, "anchor.hidden"), naive.linear(way, "anchor.score")))
    return -(np.log(first[anchor]) + np.log(naive.softmax(z.flatten()).reshape(z.shape)[anchor, partner])) / 2


def test_sampled_loss_with_k_of_the_whole_length_is_the_full_loss():
    """Also in a batch with padding."""
    head = scrambled(MatrixForwardHead(width=WIDTH, inner=INNER, sample=7))
    passage = encoded(batch=2, real=(7, 5))
    way = head.forward_way
    expected = np.mean([full_loss(way, passage, 0, 7, 2, 4), full_loss(way, passage, 1, 5, 0, 3)])
    assert head.loss(passage, targets((2, 4), (0, 3))).item() == pytest.approx(expected, abs=1e-10)


def test_ensemble_averages_both_directions():
    head = scrambled(MatrixEnsembleHead(width=WIDTH, inner=INNER, sample=7))
    passage = encoded()
    forward = full_loss(head.forward_way, passage, 0, 7, 2, 4)
    backward = full_loss(head.backward_way, passage, 0, 7, 4, 2)
    assert head.loss(passage, targets((2, 4))).item() == pytest.approx((forward + backward) / 2, abs=1e-10)
    directions = head.span_probabilities(passage, 3)
    assert [direction.backward for direction in directions] == [False, True]


def test_sample_is_the_target_and_the_most_probable_others():
    scores = torch.tensor([[5.0, 1.0, 4.0, 3.0, 2.0]])
    assert sample_with_target(scores, torch.tensor([1]), 3).tolist() == [[1, 0, 2]]
    assert sample_with_target(scores, torch.tensor([0]), 3).tolist() == [[0, 2, 3]]
    assert sorted(sample_with_target(scores, torch.tensor([4]), 20)[0].tolist()) == [0, 1, 2, 3, 4]


def test_sampled_loss_is_over_the_sample_only():
    head = scrambled(MatrixForwardHead(width=WIDTH, inner=INNER, sample=3))
    passage, way = encoded(), head.forward_way
    h = passage.tokens[0].numpy()
    z = naive_matrix(way, h)
    logits = naive.additive(h, naive.linear(way, "anchor.hidden"), naive.linear(way, "anchor.score"))
    rows = [2, *[i for i in np.argsort(-logits) if i != 2][:2]]
    cells = [z[i, [4, *[j for j in np.argsort(-z[i]) if j != 4][:2]]] for i in rows]
    expected = -(np.log(naive.softmax(logits[rows])[0]) + np.log(naive.softmax(np.concatenate(cells))[0])) / 2
    assert head.loss(passage, targets((2, 4))).item() == pytest.approx(expected, abs=1e-10)


def test_gradient_raises_the_target_and_lowers_the_sampled_others():
    way = MatrixDirection(width=WIDTH, inner=INNER, sample=3).double()
    passage = encoded()
    logits = way.anchor(passage.tokens).detach().requires_grad_()
    chosen = sample_with_target(logits.detach(), torch.tensor([2]), 3)
    F.cross_entropy(logits.gather(1, chosen), torch.tensor([0])).backward()
    right, others = logits.grad[0, 2], logits.grad[0, chosen[0, 1:]]
    assert right < 0
    assert (others > 0).all()
    assert logits.grad[0].count_nonzero() == 3


def kept_bytes(length, sample):
    """Bytes of the [B, n, m, L] tensors that the loss keeps for its gradient."""
    head = MatrixForwardHead(width=8, inner=16, sample=sample)
    passage = EncodedPassage(torch.randn(1, length, 8), torch.ones(1, length, dtype=torch.bool), torch.randn(1, 8))
    kept: dict[int, int] = {}

    def pack(tensor):
        if tensor.dim() == 4:
            kept[tensor.data_ptr()] = tensor.numel() * tensor.element_size()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = head.loss(passage, targets((3, 5)))
    held = sum(kept.values())
    loss.backward()
    return held


def test_memory_grows_with_the_square_of_the_sample_not_with_the_length():
    assert kept_bytes(100, 10) == kept_bytes(400, 10) > 0
    assert kept_bytes(400, 20) == 4 * kept_bytes(400, 10)
    assert kept_bytes(100, 100) == 100 * kept_bytes(100, 10)


@pytest.mark.parametrize("kind", [IndependentHead, VectorConditionalHead, MatrixForwardHead, MatrixEnsembleHead])
def test_padding_does_not_change_loss_or_probabilities(kind):
    more = {"sample": 3} if issubclass(kind, MatrixForwardHead) else {}
    head = scrambled(kind(width=WIDTH, inner=INNER, **more))
    padded = encoded(length=9, real=(6,))
    alone = EncodedPassage(padded.tokens[:, :6], padded.mask[:, :6], padded.question)
    torch.testing.assert_close(head.loss(padded, targets((1, 3))), head.loss(alone, targets((1, 3))))
    for with_padding, without in zip(
        head.span_probabilities(padded, 4), head.span_probabilities(alone, 4), strict=True
    ):
        torch.testing.assert_close(with_padding.anchors, without.anchors)
        torch.testing.assert_close(with_padding.partner[..., :6], without.partner)
        assert with_padding.partner[..., 6:].count_nonzero() == 0


@pytest.mark.parametrize("kind", [IndependentHead, VectorConditionalHead, MatrixForwardHead, MatrixEnsembleHead])
def test_a_gradient_reaches_every_parameter(kind):
    more = {"sample": 3} if issubclass(kind, MatrixForwardHead) else {}
    head = kind(width=WIDTH, inner=INNER, **more).double()
    head.loss(encoded(), targets((1, 3))).backward()
    silent = {name for name, one in head.named_parameters() if not one.grad.count_nonzero()}
    # a constant added to all logits does not change a softmax
    assert {name for name in silent if not name.endswith("score.bias")} == set()


def no_answer_probabilities(direction):
    """The probability of the first token as anchor, and as its own partner."""
    first = direction.anchors[0] == 0
    return [float(side.detach()) for side in (direction.anchor[0, first], direction.partner[0, first, 0])]


@pytest.mark.parametrize("kind", [IndependentHead, VectorConditionalHead, MatrixForwardHead, MatrixEnsembleHead])
def test_no_answer_logit_is_added_to_the_first_token_only(kind):
    more = {"sample": 3} if issubclass(kind, MatrixForwardHead) else {}
    head, plain = scrambled(kind(width=WIDTH, inner=INNER, **more)), encoded()
    nothing, sure = (replace(plain, no_answer=torch.tensor([size], dtype=torch.float64)) for size in (0.0, 40.0))
    torch.testing.assert_close(head.loss(nothing, targets((2, 3))), head.loss(plain, targets((2, 3))))
    assert head.loss(sure, targets((0, 0))).item() < 1e-9
    assert head.loss(sure, targets((2, 3))).item() > 10
    for as_before, certain, before in zip(
        *(head.span_probabilities(one, 7) for one in (nothing, sure, plain)), strict=True
    ):
        assert no_answer_probabilities(as_before) == no_answer_probabilities(before)
        assert no_answer_probabilities(certain) == pytest.approx([1, 1])


@pytest.mark.parametrize("kind", [MatrixForwardHead, MatrixEnsembleHead])
def test_no_answer_logit_does_not_change_the_rows_of_other_anchors(kind):
    head, plain = scrambled(kind(width=WIDTH, inner=INNER, sample=3)), encoded()
    sure = replace(plain, no_answer=torch.tensor([40.0], dtype=torch.float64))
    for one, other in zip(head.span_probabilities(sure, 7), head.span_probabilities(plain, 7), strict=True):
        rows, before = (dict(zip(way.anchors[0].tolist(), way.partner[0], strict=True)) for way in (one, other))
        assert all(torch.equal(rows[anchor], before[anchor]) for anchor in range(1, 7))
