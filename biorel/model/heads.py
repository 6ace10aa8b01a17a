"""The bi-affine operator (section 2.3): A_ilj = (e_i^head L_l) e_j^tail for each relation l."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Biaffine(nn.Module):
    """A tensor D x R x D with a bias column on either side; each relation's matrix starts orthogonal."""

    def __init__(self, *, width: int, relations: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width + 1, relations, width + 1))
        with torch.no_grad():
            for relation in range(relations):
                self.weight[:, relation] = nn.init.orthogonal_(torch.empty(width + 1, width + 1))

    def forward(self, heads: Tensor, tails: Tensor) -> Tensor:
        """[B, H, D] and [B, K, D] -> [B, H, R, K]."""
        left = torch.einsum("bhd,dre->bhre", _with_bias(heads), self.weight)  # [B, H, R, D + 1]
        return torch.einsum("bhre,bke->bhrk", left, _with_bias(tails))


def _with_bias(units: Tensor) -> Tensor:
    """[..., D] -> [..., D + 1], the last column 1."""
    return torch.cat([units, units.new_ones((*units.shape[:-1], 1))], dim=-1)


# MERGED from model.heads.pair_features: Scores from the hand-made features of a pair (`dataset.pair_features`), added to the pooled scores.
class PairFeatures(nn.Module):
    """A small perceptron, F -> inner -> R."""

    def __init__(self, *, features: int, inner: int, relations: int, dropout: float) -> None:
        super().__init__()
        self.inner = nn.Linear(features, inner)
        self.outer = nn.Linear(inner, relations)
        self.dropout = nn.Dropout(dropout)

    def forward(self, features: Tensor) -> Tensor:
        """[P, F] -> [P, R]."""
        scores: Tensor = self.outer(self.dropout(F.relu(self.inner(features))))
        return scores


# MERGED from model.heads.projection: Head and tail versions of a token (section 2.3): e = W1 ReLU(W0 b).
class Projection(nn.Module):
    """Linear, ReLU, linear; dropout on what goes in and in between."""

    def __init__(self, *, width: int, dropout: float) -> None:
        super().__init__()
        self.inner = nn.Linear(width, width)
        self.outer = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, units: Tensor) -> Tensor:
        """[..., D] -> [..., D]."""
        inner = F.relu(self.inner(self.dropout(units)))
        projected: Tensor = self.outer(self.dropout(inner))
        return projected
