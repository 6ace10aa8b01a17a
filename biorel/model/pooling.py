"""Pool token vectors into span vectors, and scores of mention pairs into scores of entity pairs (section 2.4)."""

from __future__ import annotations

import torch
from torch import Tensor


def average_spans(tokens: Tensor, span_tokens: Tensor, span_mask: Tensor) -> Tensor:
    """The mean vector of each span's tokens; a padded span gives 0.

    Args:
        tokens: [B, T, D].
        span_tokens: [B, H, L] token positions.
        span_mask: [B, H, L].

    Returns:
        [B, H, D].
    """
    batch, spans, length = span_tokens.shape
    index = span_tokens.reshape(batch, spans * length, 1).expand(-1, -1, tokens.shape[2])
    gathered = tokens.gather(1, index).view(batch, spans, length, tokens.shape[2])  # [B, H, L, D]
    weights = span_mask.to(tokens.dtype) / span_mask.sum(-1, keepdim=True).clamp(min=1)  # [B, H, L]
    return torch.einsum("bhld,bhl->bhd", gathered, weights)


def average_tokens(tokens: Tensor, mask: Tensor) -> Tensor:
    """The mean vector of each document's real tokens: [B, T, D] and [B, T] -> [B, D]; an empty text gives 0."""
    return (tokens * mask[..., None]).sum(1) / mask.sum(1, keepdim=True).clamp(min=1)


def gather_mention_pairs(affinities: Tensor, mention_pairs: Tensor) -> Tensor:
    """A_ij of the mention pairs: [B, H, R, K] and [M] flat indices into [B, H, K] -> [M, R]."""
    relations = affinities.shape[2]
    return affinities.permute(0, 1, 3, 2).reshape(-1, relations)[mention_pairs]


def pool_mention_pairs(mention_pair_scores: Tensor, entity_pairs: Tensor, pair_count: int) -> Tensor:
    """scores(p^head, p^tail) = log sum_{i in P^head, j in P^tail} exp(A_ij) (section 2.4).

    Args:
        mention_pair_scores: [M, R].
        entity_pairs: [M], the entity pair of each mention pair.
        pair_count: P.

    Returns:
        [P, R].
    """
    index = entity_pairs[:, None].expand_as(mention_pair_scores)
    peak = mention_pair_scores.new_full((pair_count, mention_pair_scores.shape[1]), float("-inf"))
    peak = peak.scatter_reduce(0, index, mention_pair_scores.detach(), "amax")  # [P, R]
    shifted = (mention_pair_scores - peak[entity_pairs]).exp()
    total = torch.zeros_like(peak).index_add(0, entity_pairs, shifted)
    return total.log() + peak


def mention_pair_weights(mention_pair_scores: Tensor, pair_scores: Tensor, entity_pairs: Tensor) -> Tensor:
    """The share of each mention pair in the log-sum-exp of its entity pair, which serves as evidence.

    Args:
        mention_pair_scores: [M, R].
        pair_scores: [P, R], from `pool_mention_pairs`.
        entity_pairs: [M].

    Returns:
        [M, R]; the weights of an entity pair sum to 1.
    """
    return (mention_pair_scores - pair_scores[entity_pairs]).exp()
