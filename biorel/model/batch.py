"""What the network reads: one frozen bundle of tensors for several documents and their pairs."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self

import torch
from torch import Tensor

from biorel.model.branches import Branches


# MERGED from model.tensors: What every bundle of tensors can do.
@dataclass(frozen=True)
class Tensors:
    """A record whose fields are all tensors."""

    def to(self, device: torch.device) -> Self:
        """The same on another device."""
        return type(self)(**{field.name: getattr(self, field.name).to(device) for field in fields(self)})


@dataclass(frozen=True)
class Batch(Tensors):
    """Documents with their pairs; a mask is True where something is real.

    A unit is what the bi-affine scores: one mention (its tokens are averaged) or one mention token.
    A link joins a head unit with a tail unit of one pair; a pair has at least one link.

    Attributes:
        token_ids: [B, T] int64, padded with 0.
        token_mask: [B, T] bool.
        head_tokens, tail_tokens: [B, H, L], [B, K, L] int64 token positions of each unit, padded with 0.
        head_mask, tail_mask: [B, H, L], [B, K, L] bool.
        links: [N] int64 flat places in [B, H, K]; of one pair they stand together.
        link_pairs: [N] int64 the pair of each link, ascending.
        pair_documents: [P] int64 the row in B of each pair.
        pair_heads, pair_tails: [P] int64 the entities of each pair, numbered through the batch.
        pair_features: [P, F] float32.
        cues: [C] int64 buckets, those of one pair together.
        cue_starts: [P] int64 where each pair's cues begin.
        allowed: [P, R] bool, the relations whose argument types the pair has; NULL always.
        labels: [P, R] bool, NULL where no relation holds.
        ner_labels: [B, T] int64.
        document_labels: [B] bool, whether a relation of the document holds.
        branch_ids, branch_mask, branch_anchors: see `branches.Branches`; K is 0 without knowledge.
    """

    token_ids: Tensor
    token_mask: Tensor
    head_tokens: Tensor
    head_mask: Tensor
    tail_tokens: Tensor
    tail_mask: Tensor
    links: Tensor
    link_pairs: Tensor
    pair_documents: Tensor
    pair_heads: Tensor
    pair_tails: Tensor
    pair_features: Tensor
    cues: Tensor
    cue_starts: Tensor
    allowed: Tensor
    labels: Tensor
    ner_labels: Tensor
    document_labels: Tensor
    branch_ids: Tensor
    branch_mask: Tensor
    branch_anchors: Tensor

    @property
    def branches(self) -> Branches | None:
        """The branches of knowledge, or None where no document has any."""
        if not self.branch_mask.shape[1]:
            return None
        return Branches(self.branch_ids, self.branch_mask, self.branch_anchors)

    @property
    def pairs(self) -> int:
        """P."""
        return int(self.pair_documents.shape[0])
