"""Section 2.6: the two likelihoods equal loops, and their gradients stay finite (R-06)."""

import math

import pytest
import torch

from biorel.model.losses import ner_loss, relation_loss
from tests.model.naive import softmax

FORBIDDEN = -1e9
LABELS = ((0,), (2,), (1, 3), (0,), (1, 2, 3))  # the relations of each pair; 0 is NULL


def _labels(rows: tuple[tuple[int, ...], ...] = LABELS, relations: int = 4) -> torch.Tensor:
    labels = torch.zeros(len(rows), relations, dtype=torch.bool)
    for row, chosen in enumerate(rows):
        labels[row, list(chosen)] = True
    return labels


def _scores(scale: float = 2.0) -> torch.Tensor:
    return torch.randn(len(LABELS), 4, dtype=torch.float64, generator=torch.Generator().manual_seed(8)) * scale


def _naive_relation_loss(scores: torch.Tensor, rows: tuple[tuple[int, ...], ...], positive_weight: float) -> float:
    total = weight_sum = 0.0
    for row, chosen in enumerate(rows):
        shares = softmax([float(score) for score in scores[row]])
        weight = 1.0 if chosen == (0,) else positive_weight
        # each relation of the pair is a separate example; together they have the weight of the pair
        total += sum(weight / len(chosen) * -math.log(shares[relation]) for relation in chosen)
        weight_sum += weight
    return total / weight_sum


@pytest.mark.parametrize("positive_weight", [1.0, 3.5, 0.25])
def test_relation_loss_is_the_weighted_mean_over_pairs(positive_weight: float) -> None:
    found = relation_loss(_scores(), _labels(), positive_weight=positive_weight)
    assert float(found) == pytest.approx(_naive_relation_loss(_scores(), LABELS, positive_weight), rel=1e-12)


def test_relation_loss_with_one_label_per_pair_is_the_mean_of_the_paper() -> None:
    rows = ((0,), (2,), (1,), (0,), (3,))
    expected = -sum(math.log(softmax(row.tolist())[own[0]]) for row, own in zip(_scores(), rows, strict=True)) / 5
    assert float(relation_loss(_scores(), _labels(rows), positive_weight=1.0)) == pytest.approx(expected, rel=1e-12)


def test_a_forbidden_relation_gets_no_probability() -> None:
    scores = _scores()
    scores[:2, 3] = FORBIDDEN
    found = relation_loss(scores[:2], _labels()[:2], positive_weight=2.0)
    # as if relation 3 did not exist
    assert float(found) == pytest.approx(_naive_relation_loss(scores[:2, :3], LABELS[:2], 2.0), rel=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_r06_forbidden_relations_leave_finite_gradients(dtype: torch.dtype) -> None:
    scores = _scores().to(dtype)
    forbidden = ~_labels()
    forbidden[:, 0] = False
    scores = scores.requires_grad_()
    masked = scores.masked_fill(forbidden, FORBIDDEN)
    loss = relation_loss(masked, _labels(), positive_weight=2.0)
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(scores.grad).all()
    assert (scores.grad[forbidden] == 0).all()
    assert (scores.grad[_labels() & ~_labels()[:, :1]].abs() > 0).all()


@pytest.mark.parametrize("scale", [0.0, 1e4])
def test_r06_extreme_scores_leave_finite_gradients(scale: float) -> None:
    scores = _scores(scale).float().requires_grad_()
    loss = relation_loss(scores, _labels(), positive_weight=1.0)
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(scores.grad).all()


def test_r06_without_pairs_loss_and_gradient_are_zero() -> None:
    parameter = torch.randn(4, requires_grad=True)
    scores = torch.zeros(0, 3) @ parameter[:3, None] + parameter[None, :]
    loss = relation_loss(scores[:0], torch.zeros(0, 4, dtype=torch.bool), positive_weight=2.0)
    loss.backward()
    assert loss.item() == 0.0
    assert parameter.grad.tolist() == [0.0] * 4


def test_relation_loss_has_the_right_gradient() -> None:
    scores = _scores().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: relation_loss(x, _labels(), positive_weight=2.0), (scores,))


LENGTHS = (4, 2, 0)


def _tagged() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(9)
    scores = torch.randn(3, 4, 5, dtype=torch.float64, generator=generator)
    labels = torch.randint(5, (3, 4), generator=generator)
    return scores, labels, torch.arange(4)[None] < torch.tensor(LENGTHS)[:, None]


def test_ner_loss_is_the_mean_over_real_tokens() -> None:
    scores, labels, mask = _tagged()
    losses = [
        -math.log(softmax(scores[row, token].tolist())[int(labels[row, token])])
        for row, length in enumerate(LENGTHS)
        for token in range(length)
    ]
    assert float(ner_loss(scores, labels, mask)) == pytest.approx(sum(losses) / len(losses), rel=1e-12)


def test_ner_loss_ignores_padding() -> None:
    scores, labels, mask = _tagged()
    scores.requires_grad_()
    ner_loss(scores, labels, mask).backward()
    assert (scores.grad[~mask] == 0).all()
    assert (scores.grad[mask].abs().sum(-1) > 0).all()


@pytest.mark.parametrize("length", [0, 4])
def test_r06_without_tokens_the_ner_loss_is_zero(length: int) -> None:
    scores = torch.randn(2, length, 5, requires_grad=True)
    labels = torch.zeros(2, length, dtype=torch.int64)
    loss = ner_loss(scores, labels, torch.zeros(2, length, dtype=torch.bool))
    loss.backward()
    assert loss.item() == 0.0
    assert (scores.grad == 0).all()
