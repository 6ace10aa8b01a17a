"""Use several networks as one network, whose scores are the logarithms of their mean probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import TypeAlias

import torch
from torch import Tensor, nn

from biorel.model.batch import Batch
from biorel.model.bran import Bran, BranConfig, BranOutput
from biorel.model.branches import Branches

# the fields of BranConfig that determine a network's inputs and outputs; members may differ in all others
SHARED = (
    "vocabulary",
    "relations",
    "ner_labels",
    "pair_features",
    "graph_features",
    "lexical_features",
    "positions",
    "span_pooling",
    "branches",
    "task",
)


class Ensemble(nn.Module):
    """Networks that read the same batches. It has the methods of `Bran` that score documents, and cannot be trained."""

    def __init__(self, members: Sequence[Bran]) -> None:
        """Join networks.

        Raises:
            ValueError: there is no member, or members differ in one of the fields in `SHARED`.
        """
        super().__init__()
        if not members or any(differing_fields(member.config, members[0].config) for member in members):
            raise ValueError("the members of an ensemble must have the same inputs and outputs")
        self.members = nn.ModuleList(members)
        self._widths = [member.config.width for member in members]

    @property
    def config(self) -> BranConfig:
        """The configuration of the first member; only the fields in `SHARED` hold for all members."""
        return self.networks[0].config

    @property
    def networks(self) -> list[Bran]:
        """The members, typed as `Bran`."""
        return [member for member in self.members if isinstance(member, Bran)]

    def encode(self, token_ids: Tensor, mask: Tensor, branches: Branches | None = None) -> Tensor:
        """[B, T] and [B, T] -> [B, T, sum of D], the members' tokens in context, concatenated."""
        return torch.cat([member.encode(token_ids, mask, branches) for member in self.networks], dim=-1)

    def ner(self, tokens: Tensor) -> Tensor:
        """[B, T, sum of D] -> [B, T, C], the logarithm of the mean BIO probabilities."""
        parts = torch.split(tokens, self._widths, dim=-1)
        return log_mean_probabilities([member.ner(part) for member, part in zip(self.networks, parts, strict=True)])

    def score(self, tokens: Tensor, batch: Batch) -> BranOutput:
        """Score all pairs and all BIO labels of encoded documents: [B, T, sum of D] tokens in context.

        Scores of entity pairs and of BIO labels are logarithms of mean probabilities. Scores of mention pairs and of
        documents are the means of the members' scores.
        """
        parts = torch.split(tokens, self._widths, dim=-1)
        outputs = [member.score(part, batch) for member, part in zip(self.networks, parts, strict=True)]
        documents = [output.document_scores for output in outputs if output.document_scores is not None]
        return BranOutput(
            pair_scores=log_mean_probabilities([output.pair_scores for output in outputs]),
            mention_pair_scores=torch.stack([output.mention_pair_scores for output in outputs]).mean(0),
            ner_scores=log_mean_probabilities([output.ner_scores for output in outputs]),
            document_scores=torch.stack(documents).mean(0) if documents else None,
        )

    def forward(self, batch: Batch) -> BranOutput:
        return self.score(self.encode(batch.token_ids, batch.token_mask, batch.branches), batch)


Network: TypeAlias = Bran | Ensemble


def log_mean_probabilities(scores: Sequence[Tensor]) -> Tensor:
    """The logarithm of the mean softmax over the last axis; the softmax of the result is that mean."""
    return torch.stack([member.log_softmax(-1) for member in scores]).logsumexp(0) - log(len(scores))


def differing_fields(config: BranConfig, other: BranConfig) -> list[str]:
    """The fields in `SHARED` in which two configurations differ."""
    return [name for name in SHARED if getattr(config, name) != getattr(other, name)]
