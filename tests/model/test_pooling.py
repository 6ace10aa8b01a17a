"""Section 2.4: means of mention tokens, and log-sum-exp over the links of a pair."""

import math

import numpy as np
import pytest
import torch

from biorel.model.pooling import average_units, gather_links, link_weights, pool_links
from tests.model.naive import log_sum_exp

PAIRS = (0, 0, 0, 1, 2, 2, 3)  # the pair of each link
SCORES = {
    "ordinary": 1.0,
    "large": 1e4,
    "tiny": 1e-6,
}


def _links(scale: float, offset: float = 0.0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(6)
    return torch.randn(len(PAIRS), 5, dtype=torch.float64, generator=generator) * scale + offset


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_unit_is_the_mean_of_its_tokens(dtype: torch.dtype) -> None:
    tokens = torch.randn(2, 6, 3, generator=torch.Generator().manual_seed(7)).to(dtype)
    spans = [[(1, 2), (2, 5), (0, 6)], [(5, 6)]]  # the second document has two padded units
    places = torch.zeros(2, 3, 6, dtype=torch.int64)
    mask = torch.zeros(2, 3, 6, dtype=torch.bool)
    for row, units in enumerate(spans):
        for unit, (start, end) in enumerate(units):
            places[row, unit, : end - start] = torch.arange(start, end)
            mask[row, unit, : end - start] = True
    found = average_units(tokens, places, mask)
    assert found.shape == (2, 3, 3)
    for row in range(2):
        for unit in range(3):
            expected = [0.0] * 3
            if unit < len(spans[row]):
                start, end = spans[row][unit]
                expected = [sum(float(tokens[row, t, d]) for t in range(start, end)) / (end - start) for d in range(3)]
            np.testing.assert_allclose(found[row, unit].numpy(), expected, rtol=1e-5, atol=1e-6)


def test_links_are_read_at_their_places() -> None:
    affinities = torch.randn(2, 3, 5, 4)  # [B, H, R, K]
    wanted = [(0, 0, 0), (1, 2, 3), (0, 1, 2), (1, 0, 1)]
    flat = torch.tensor([(b * 3 + h) * 4 + k for b, h, k in wanted])
    expected = torch.stack([affinities[b, h, :, k] for b, h, k in wanted])
    assert torch.equal(gather_links(affinities, flat), expected)


@pytest.mark.parametrize("scale", SCORES.values(), ids=SCORES)
@pytest.mark.parametrize("offset", [0.0, 1e4, -1e4])
def test_pooling_is_log_sum_exp_and_never_overflows(scale: float, offset: float) -> None:
    scores = _links(scale, offset)
    found = pool_links(scores, torch.tensor(PAIRS), 4)
    for pair in range(4):
        for relation in range(5):
            values = [float(scores[n, relation]) for n, own in enumerate(PAIRS) if own == pair]
            assert float(found[pair, relation]) == pytest.approx(log_sum_exp(values), rel=1e-12, abs=1e-12)


def test_pooling_in_float32_keeps_far_apart_scores() -> None:
    scores = torch.tensor([[1e4], [-1e4], [-1e4], [-1e4]])
    found = pool_links(scores, torch.tensor([0, 0, 1, 1]), 2)
    torch.testing.assert_close(found, torch.tensor([[1e4], [-1e4 + math.log(2)]]))


def test_a_pair_with_one_link_has_its_score() -> None:
    scores = _links(1.0)
    torch.testing.assert_close(pool_links(scores, torch.tensor(PAIRS), 4)[1], scores[3])


def test_pooling_of_nothing_is_nothing() -> None:
    assert pool_links(torch.zeros(0, 5), torch.zeros(0, dtype=torch.int64), 0).shape == (0, 5)


@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_the_gradient_of_pooling_is_right(scale: float) -> None:
    scores = _links(scale).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: pool_links(x, torch.tensor(PAIRS), 4), (scores,))


def test_the_gradient_of_a_pair_is_shared_by_weight() -> None:
    scores = _links(1.0).requires_grad_()
    pooled = pool_links(scores, torch.tensor(PAIRS), 4)
    pooled.sum().backward()
    torch.testing.assert_close(scores.grad, link_weights(scores, pooled, torch.tensor(PAIRS)).detach())


@pytest.mark.parametrize("scale", SCORES.values(), ids=SCORES)
def test_link_weights_sum_to_one_over_a_pair(scale: float) -> None:
    scores, pairs = _links(scale), torch.tensor(PAIRS)
    shares = link_weights(scores, pool_links(scores, pairs, 4), pairs)
    assert (shares >= 0).all()
    for pair in range(4):
        torch.testing.assert_close(shares[pairs == pair].sum(0), torch.ones(5, dtype=torch.float64))
    for relation in range(5):
        first = [float(scores[n, relation]) for n in range(3)]
        expected = math.exp(first[1] - log_sum_exp(first))
        assert float(shares[1, relation]) == pytest.approx(expected, rel=1e-9, abs=1e-12)
