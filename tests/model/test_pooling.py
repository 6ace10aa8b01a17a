"""Section 2.4: means of mention tokens, and log-sum-exp over the mention pairs of an entity pair."""

import math

import numpy as np
import pytest
import torch

from biorel.model.pooling import average_spans, gather_mention_pairs, mention_pair_weights, pool_mention_pairs
from tests.model.naive import log_sum_exp

ENTITY_PAIRS = (0, 0, 0, 1, 2, 2, 3)  # the entity pair of each mention pair
SCORES = {
    "ordinary": 1.0,
    "large": 1e4,
    "tiny": 1e-6,
}


def _mention_pair_scores(scale: float, offset: float = 0.0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(6)
    return torch.randn(len(ENTITY_PAIRS), 5, dtype=torch.float64, generator=generator) * scale + offset


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_span_vector_is_the_mean_of_its_tokens(dtype: torch.dtype) -> None:
    tokens = torch.randn(2, 6, 3, generator=torch.Generator().manual_seed(7)).to(dtype)
    spans = [[(1, 2), (2, 5), (0, 6)], [(5, 6)]]  # the second document has two padded spans
    places = torch.zeros(2, 3, 6, dtype=torch.int64)
    mask = torch.zeros(2, 3, 6, dtype=torch.bool)
    for row, document_spans in enumerate(spans):
        for span, (start, end) in enumerate(document_spans):
            places[row, span, : end - start] = torch.arange(start, end)
            mask[row, span, : end - start] = True
    found = average_spans(tokens, places, mask)
    assert found.shape == (2, 3, 3)
    for row in range(2):
        for span in range(3):
            expected = [0.0] * 3
            if span < len(spans[row]):
                start, end = spans[row][span]
                expected = [sum(float(tokens[row, t, d]) for t in range(start, end)) / (end - start) for d in range(3)]
            np.testing.assert_allclose(found[row, span].numpy(), expected, rtol=1e-5, atol=1e-6)


def test_mention_pairs_are_gathered_by_flat_index() -> None:
    affinities = torch.randn(2, 3, 5, 4)  # [B, H, R, K]
    wanted = [(0, 0, 0), (1, 2, 3), (0, 1, 2), (1, 0, 1)]
    flat = torch.tensor([(b * 3 + h) * 4 + k for b, h, k in wanted])
    expected = torch.stack([affinities[b, h, :, k] for b, h, k in wanted])
    assert torch.equal(gather_mention_pairs(affinities, flat), expected)


@pytest.mark.parametrize("scale", SCORES.values(), ids=SCORES)
@pytest.mark.parametrize("offset", [0.0, 1e4, -1e4])
def test_pooling_is_log_sum_exp_and_never_overflows(scale: float, offset: float) -> None:
    scores = _mention_pair_scores(scale, offset)
    found = pool_mention_pairs(scores, torch.tensor(ENTITY_PAIRS), 4)
    for pair in range(4):
        for relation in range(5):
            values = [float(scores[n, relation]) for n, own in enumerate(ENTITY_PAIRS) if own == pair]
            assert float(found[pair, relation]) == pytest.approx(log_sum_exp(values), rel=1e-12, abs=1e-12)


def test_pooling_in_float32_keeps_distant_scores() -> None:
    scores = torch.tensor([[1e4], [-1e4], [-1e4], [-1e4]])
    found = pool_mention_pairs(scores, torch.tensor([0, 0, 1, 1]), 2)
    torch.testing.assert_close(found, torch.tensor([[1e4], [-1e4 + math.log(2)]]))


def test_an_entity_pair_with_one_mention_pair_has_its_score() -> None:
    scores = _mention_pair_scores(1.0)
    torch.testing.assert_close(pool_mention_pairs(scores, torch.tensor(ENTITY_PAIRS), 4)[1], scores[3])


def test_pooling_of_nothing_is_nothing() -> None:
    assert pool_mention_pairs(torch.zeros(0, 5), torch.zeros(0, dtype=torch.int64), 0).shape == (0, 5)


@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_the_gradient_of_pooling_is_right(scale: float) -> None:
    scores = _mention_pair_scores(scale).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: pool_mention_pairs(x, torch.tensor(ENTITY_PAIRS), 4), (scores,))


def test_the_gradient_of_a_pair_is_shared_by_weight() -> None:
    scores = _mention_pair_scores(1.0).requires_grad_()
    pooled = pool_mention_pairs(scores, torch.tensor(ENTITY_PAIRS), 4)
    pooled.sum().backward()
    torch.testing.assert_close(scores.grad, mention_pair_weights(scores, pooled, torch.tensor(ENTITY_PAIRS)).detach())


@pytest.mark.parametrize("scale", SCORES.values(), ids=SCORES)
def test_link_weights_sum_to_one_over_a_pair(scale: float) -> None:
    scores, pairs = _mention_pair_scores(scale), torch.tensor(ENTITY_PAIRS)
    shares = mention_pair_weights(scores, pool_mention_pairs(scores, pairs, 4), pairs)
    assert (shares >= 0).all()
    for pair in range(4):
        torch.testing.assert_close(shares[pairs == pair].sum(0), torch.ones(5, dtype=torch.float64))
    for relation in range(5):
        first = [float(scores[n, relation]) for n in range(3)]
        expected = math.exp(first[1] - log_sum_exp(first))
        assert float(shares[1, relation]) == pytest.approx(expected, rel=1e-9, abs=1e-12)
