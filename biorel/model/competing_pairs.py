"""How strongly the competing pairs of an entity pair claim a relation.

An abstract seldom blames two drugs for one disease, but BRAN scores each pair independently (section 2.4). The
competing pairs of a pair are the other pairs of its document. The features describe their scores in three groups: those
with the same tail, those with the same head, and all of them.
"""

from __future__ import annotations

import torch
from torch import Tensor

COMPETING_FEATURES = 7  # the pair's own score, then the maximum and log(1 + sum of exp) for tail, head and document
LOWEST = -6.0  # used where there is no competing pair; odds of 1 to 400


def competing_pair_features(scores: Tensor, allowed: Tensor, tails: Tensor, heads: Tensor, documents: Tensor) -> Tensor:
    """The features of every pair and relation.

    Args:
        scores: [P, R] log-odds, without NULL.
        allowed: [P, R] bool; a pair does not compete for a relation that its argument types forbid.
        tails, heads, documents: [P] int64, the numbers of each pair's entities and document.

    Returns:
        [P, R, COMPETING_FEATURES].
    """
    scores = scores.clamp(min=LOWEST)
    columns = [scores]
    for groups in (tails, heads, documents):
        columns += [_largest_other(scores, allowed, groups), _sum_of_others(scores, allowed, groups)]
    return torch.stack(columns, dim=-1)


def _largest_other(scores: Tensor, allowed: Tensor, groups: Tensor) -> Tensor:
    """The largest score among the other pairs of each pair's group: [P, R], [P, R] and [P] -> [P, R]."""
    index, count = _index(scores, groups)
    lowest = scores.new_full((count, scores.shape[1]), LOWEST)
    known = scores.masked_fill(~allowed, LOWEST)
    first = lowest.scatter_reduce(0, index, known, "amax")[groups]  # [P, R]
    leads = known >= first
    second = lowest.scatter_reduce(0, index, known.masked_fill(leads, LOWEST), "amax")[groups]
    leaders = torch.zeros_like(lowest).scatter_reduce(0, index, leads.to(scores.dtype), "sum")[groups]
    return torch.where(leads & (leaders == 1), second, first)


def _sum_of_others(scores: Tensor, allowed: Tensor, groups: Tensor) -> Tensor:
    """log(1 + sum of exp) over the other pairs of each pair's group: [P, R], [P, R] and [P] -> [P, R]."""
    index, count = _index(scores, groups)
    odds = scores.clamp(max=-LOWEST).exp().masked_fill(~allowed, 0)
    total = odds.new_zeros(count, scores.shape[1]).scatter_reduce(0, index, odds, "sum")[groups]
    return torch.log1p((total - odds).clamp(min=0))


def _index(scores: Tensor, groups: Tensor) -> tuple[Tensor, int]:
    return groups[:, None].expand_as(scores), int(groups.max()) + 1 if len(groups) else 0
