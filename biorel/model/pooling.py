"""From tokens to units, and from links back to pairs (section 2.4)."""

from __future__ import annotations

import torch
from torch import Tensor


def average_units(tokens: Tensor, unit_tokens: Tensor, unit_mask: Tensor) -> Tensor:
    """The mean of each unit's tokens: [B, T, D], [B, U, L], [B, U, L] -> [B, U, D]; 0 for a padded unit."""
    batch, units, length = unit_tokens.shape
    index = unit_tokens.reshape(batch, units * length, 1).expand(-1, -1, tokens.shape[2])
    gathered = tokens.gather(1, index).view(batch, units, length, tokens.shape[2])  # [B, U, L, D]
    weights = unit_mask.to(tokens.dtype) / unit_mask.sum(-1, keepdim=True).clamp(min=1)  # [B, U, L]
    return torch.einsum("buld,bul->bud", gathered, weights)


def mean_tokens(tokens: Tensor, mask: Tensor) -> Tensor:
    """The mean of each document's real tokens: [B, T, D] and [B, T] -> [B, D]; 0 for an empty text."""
    return (tokens * mask[..., None]).sum(1) / mask.sum(1, keepdim=True).clamp(min=1)


def gather_links(affinities: Tensor, links: Tensor) -> Tensor:
    """The scores of the links: [B, H, R, K] and [N] places in [B, H, K] -> [N, R]."""
    relations = affinities.shape[2]
    return affinities.permute(0, 1, 3, 2).reshape(-1, relations)[links]


def pool_links(link_scores: Tensor, link_pairs: Tensor, pairs: int) -> Tensor:
    """scores(head, tail) = log sum over the pair's links of exp(A): [N, R] and [N] -> [P, R]."""
    index = link_pairs[:, None].expand_as(link_scores)
    peak = link_scores.new_full((pairs, link_scores.shape[1]), float("-inf"))
    peak = peak.scatter_reduce(0, index, link_scores.detach(), "amax")  # [P, R]
    shifted = (link_scores - peak[link_pairs]).exp()
    total = torch.zeros_like(peak).index_add(0, link_pairs, shifted)
    return total.log() + peak


def link_weights(link_scores: Tensor, pair_scores: Tensor, link_pairs: Tensor) -> Tensor:
    """The share of each link in its pair's log-sum-exp, the evidence: [N, R]; over a pair's links it sums to 1."""
    return (link_scores - pair_scores[link_pairs]).exp()
