"""The input of the network: a frozen bundle of tensors for several documents and their entity pairs."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self

import torch
from torch import Tensor

from biorel.model.branches import Branches


@dataclass(frozen=True)
class Tensors:
    """A record whose fields are all tensors."""

    def to(self, device: torch.device) -> Self:
        """A copy on another device."""
        return type(self)(**{field.name: getattr(self, field.name).to(device) for field in fields(self)})


@dataclass(frozen=True)
class Batch(Tensors):
    """Documents with their entity pairs. A mask is True where a value is real and not padding.

    The bi-affine scores spans: a span is one mention, whose token vectors are averaged, or one token of a mention.
    A mention pair is a head span and a tail span of one entity pair; with one-token spans it is a token pair. Every
    entity pair has at least one mention pair.

    Attributes:
        token_ids: [B, T] int64, padded with 0.
        token_mask: [B, T] bool.
        head_tokens, tail_tokens: [B, H, L], [B, K, L] int64, the token positions of each span, padded with 0.
        head_mask, tail_mask: [B, H, L], [B, K, L] bool.
        mention_pairs: [M] int64, flat indices into [B, H, K]; the mention pairs of an entity pair are contiguous.
        entity_pairs: [M] int64, the entity pair of each mention pair, ascending.
        pair_documents: [P] int64, the row of each pair's document in B.
        pair_heads, pair_tails: [P] int64, the entities of each pair, numbered across the batch.
        pair_features: [P, F] float32.
        lexical_features: flat int64 list of hash buckets, pair after pair.
        lexical_starts: [P] int64, the index of each pair's first bucket in `lexical_features`.
        allowed: [P, R] bool, the relations whose argument types match the pair; NULL is always allowed.
        labels: [P, R] bool, NULL where no relation holds.
        ner_labels: [B, T] int64.
        document_labels: [B] bool, whether the document states a relation.
        branch_ids, branch_mask, branch_anchors: the fields of `branches.Branches`; G is 0 without knowledge.
    """

    token_ids: Tensor
    token_mask: Tensor
    head_tokens: Tensor
    head_mask: Tensor
    tail_tokens: Tensor
    tail_mask: Tensor
    mention_pairs: Tensor
    entity_pairs: Tensor
    pair_documents: Tensor
    pair_heads: Tensor
    pair_tails: Tensor
    pair_features: Tensor
    lexical_features: Tensor
    lexical_starts: Tensor
    allowed: Tensor
    labels: Tensor
    ner_labels: Tensor
    document_labels: Tensor
    branch_ids: Tensor
    branch_mask: Tensor
    branch_anchors: Tensor

    @property
    def branches(self) -> Branches | None:
        """The knowledge branches, or None where no document has any."""
        if not self.branch_mask.shape[1]:
            return None
        return Branches(self.branch_ids, self.branch_mask, self.branch_anchors)

    @property
    def pair_count(self) -> int:
        """P."""
        return int(self.pair_documents.shape[0])
