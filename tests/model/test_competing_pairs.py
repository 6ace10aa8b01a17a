"""Features of competing pairs equal loops over pairs."""

import math

import pytest
import torch
from torch import Tensor

from biorel.model.competing_pairs import COMPETING_FEATURES, LOWEST, competing_pair_features


def _naive(scores: Tensor, allowed: Tensor, *groups: Tensor) -> Tensor:
    found = torch.zeros(*scores.shape, COMPETING_FEATURES, dtype=scores.dtype)
    for pair in range(scores.shape[0]):
        for relation in range(scores.shape[1]):
            row = [max(LOWEST, float(scores[pair, relation]))]
            for group in groups:
                others = [
                    max(LOWEST, float(scores[other, relation]))
                    for other in range(scores.shape[0])
                    if other != pair and group[other] == group[pair] and allowed[other, relation]
                ]
                row += [max(others, default=LOWEST), math.log1p(sum(math.exp(min(one, -LOWEST)) for one in others))]
            found[pair, relation] = torch.tensor(row, dtype=scores.dtype)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_features_equal_loops_over_pairs(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    pairs = 17
    scores = torch.randn(pairs, 3, generator=generator, dtype=torch.float64) * 4
    scores[3] = scores[2]  # of equal scores, each is the largest competing score of the other
    allowed = torch.rand(pairs, 3, generator=generator) < 0.8
    groups = [torch.randint(0, count, (pairs,), generator=generator) for count in (6, 5, 2)]
    found = competing_pair_features(scores, allowed, *groups)
    # the features of a relation that a pair does not allow are never used
    torch.testing.assert_close(found[allowed], _naive(scores, allowed, *groups)[allowed])


def test_a_single_pair_has_no_competing_pairs() -> None:
    one = torch.tensor([[2.0]])
    zero = torch.tensor([0])
    found = competing_pair_features(one, torch.ones(1, 1, dtype=torch.bool), zero, zero, zero)
    assert found.flatten().tolist() == [2.0, LOWEST, 0.0, LOWEST, 0.0, LOWEST, 0.0]


def test_accepts_no_pairs() -> None:
    none = torch.zeros(0, dtype=torch.int64)
    assert competing_pair_features(torch.zeros(0, 2), torch.zeros(0, 2, dtype=torch.bool), none, none, none).shape == (
        0,
        2,
        7,
    )
