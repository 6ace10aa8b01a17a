"""How strongly the other pairs of a document claim a relation: what a pair's own score must be read against.

An abstract seldom blames two drugs for one disease. BRAN scores every pair as if it stood alone (section 2.4);
these features say, for each pair, how its rivals score: those with its tail, with its head, and all.
"""

from __future__ import annotations

import torch
from torch import Tensor

RIVALS = 7  # the score itself, then largest and log(1 + sum of exp) for tail, head and document
LOWEST = -6.0  # stands for the score of a rival where there is none; odds of 1 to 400


def rival_features(scores: Tensor, allowed: Tensor, tails: Tensor, heads: Tensor, documents: Tensor) -> Tensor:
    """The features of every pair and relation, [P, R, RIVALS].

    Args:
        scores: [P, R] log-odds, NULL left out.
        allowed: [P, R] bool; a pair whose argument types a relation does not have is nobody's rival.
        tails, heads, documents: [P] int64, numbers of each pair's entities and document.
    """
    scores = scores.clamp(min=LOWEST)
    columns = [scores]
    for groups in (tails, heads, documents):
        columns += [_largest_other(scores, allowed, groups), _sum_of_others(scores, allowed, groups)]
    return torch.stack(columns, dim=-1)


def _largest_other(scores: Tensor, allowed: Tensor, groups: Tensor) -> Tensor:
    """[P, R], [P, R] and the group of each pair [P] -> [P, R], the largest score among the others of its group."""
    index, count = _index(scores, groups)
    lowest = scores.new_full((count, scores.shape[1]), LOWEST)
    known = scores.masked_fill(~allowed, LOWEST)
    first = lowest.scatter_reduce(0, index, known, "amax")[groups]  # [P, R]
    leads = known >= first
    second = lowest.scatter_reduce(0, index, known.masked_fill(leads, LOWEST), "amax")[groups]
    leaders = torch.zeros_like(lowest).scatter_reduce(0, index, leads.to(scores.dtype), "sum")[groups]
    return torch.where(leads & (leaders == 1), second, first)


def _sum_of_others(scores: Tensor, allowed: Tensor, groups: Tensor) -> Tensor:
    """[P, R], [P, R] and [P] -> [P, R], log(1 + the sum of exp over the others of its group)."""
    index, count = _index(scores, groups)
    odds = scores.clamp(max=-LOWEST).exp().masked_fill(~allowed, 0)
    total = odds.new_zeros(count, scores.shape[1]).scatter_reduce(0, index, odds, "sum")[groups]
    return torch.log1p((total - odds).clamp(min=0))


def _index(scores: Tensor, groups: Tensor) -> tuple[Tensor, int]:
    return groups[:, None].expand_as(scores), int(groups.max()) + 1 if len(groups) else 0
