"""Several networks as one: the mean of their probabilities, told as scores, so that they are read as those of one."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import TypeAlias

import torch
from torch import Tensor, nn

from biorel.model.batch import Batch
from biorel.model.bran import Bran, BranConfig, Output
from biorel.model.branches import Branches

# what fixes how a document is read and what is told of it; members may differ in all else
SHARED = (
    "vocabulary",
    "relations",
    "ner_labels",
    "pair_features",
    "graph_features",
    "cues",
    "positions",
    "units",
    "branches",
    "task",
)


class Ensemble(nn.Module):
    """Networks that read the same batches; the parts of `Bran` that score documents, and no training."""

    def __init__(self, members: Sequence[Bran]) -> None:
        """Raises ValueError: no member, or members that differ in one of `SHARED`."""
        super().__init__()
        if not members or any(differing(member.sizes, members[0].sizes) for member in members):
            raise ValueError("an ensemble is of networks that read and tell the same")
        self.members = nn.ModuleList(members)
        self._widths = [member.sizes.width for member in members]

    @property
    def sizes(self) -> BranConfig:
        """Those of the first member; only what `SHARED` names holds for all."""
        return self.networks[0].sizes

    @property
    def networks(self) -> list[Bran]:
        """The members as what they are."""
        return [member for member in self.members if isinstance(member, Bran)]

    def encode(self, token_ids: Tensor, mask: Tensor, branches: Branches | None = None) -> Tensor:
        """[B, T] and [B, T] -> [B, T, sum of D], the tokens in context of every member side by side."""
        return torch.cat([member.encode(token_ids, mask, branches) for member in self.networks], dim=-1)

    def ner(self, tokens: Tensor) -> Tensor:
        """[B, T, sum of D] -> [B, T, C], the logarithm of the mean BIO probabilities."""
        parts = torch.split(tokens, self._widths, dim=-1)
        return mean_in_log_space([member.ner(part) for member, part in zip(self.networks, parts, strict=True)])

    def score(self, tokens: Tensor, batch: Batch) -> Output:
        """All pairs and all tags of documents that are encoded already: [B, T, sum of D] tokens in context.

        Pairs and tags are logarithms of mean probabilities, links and documents the mean of the members' scores.
        """
        parts = torch.split(tokens, self._widths, dim=-1)
        outputs = [member.score(part, batch) for member, part in zip(self.networks, parts, strict=True)]
        documents = [output.documents for output in outputs if output.documents is not None]
        return Output(
            mean_in_log_space([output.pairs for output in outputs]),
            torch.stack([output.links for output in outputs]).mean(0),
            mean_in_log_space([output.ner for output in outputs]),
            torch.stack(documents).mean(0) if documents else None,
        )

    def forward(self, batch: Batch) -> Output:
        return self.score(self.encode(batch.token_ids, batch.token_mask, batch.branches), batch)


Network: TypeAlias = Bran | Ensemble


def mean_in_log_space(scores: Sequence[Tensor]) -> Tensor:
    """The logarithm of the mean of the softmax over the last axis; its own softmax is that mean."""
    return torch.stack([one.log_softmax(-1) for one in scores]).logsumexp(0) - log(len(scores))


def differing(one: BranConfig, other: BranConfig) -> list[str]:
    """The names of `SHARED` in which two networks differ."""
    return [name for name in SHARED if getattr(one, name) != getattr(other, name)]
