"""Score spans and pairs (section 2.3): the head and tail MLPs, the bi-affine, and the scores of pair features."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class HeadTailMLP(nn.Module):
    """e_i = W^(1) ReLU(W^(0) b_i) (section 2.3), with biases, and dropout before each linear map.

    BRAN has two of them: one for spans in the head role, one for the tail role.
    """

    def __init__(self, *, width: int, dropout: float) -> None:
        super().__init__()
        self.inner = nn.Linear(width, width)
        self.outer = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, spans: Tensor) -> Tensor:
        """[..., D] -> [..., D]."""
        inner = F.relu(self.inner(self.dropout(spans)))
        projected: Tensor = self.outer(self.dropout(inner))
        return projected


class Biaffine(nn.Module):
    """A_ilj = (e_i^head L_l) e_j^tail for each relation l (section 2.3).

    The tensor is [D + 1, R, D + 1]: both sides have a bias column. Each relation's matrix starts orthogonal.
    """

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


def _with_bias(spans: Tensor) -> Tensor:
    """[..., D] -> [..., D + 1]; the last column is 1."""
    return torch.cat([spans, spans.new_ones((*spans.shape[:-1], 1))], dim=-1)


class PairFeatures(nn.Module):
    """A perceptron F -> inner -> R; its scores are added to the pooled scores of a pair. Not in the paper."""

    def __init__(self, *, features: int, inner: int, relations: int, dropout: float) -> None:
        super().__init__()
        self.inner = nn.Linear(features, inner)
        self.outer = nn.Linear(inner, relations)
        self.dropout = nn.Dropout(dropout)

    def forward(self, features: Tensor) -> Tensor:
        """[P, F] -> [P, R]."""
        scores: Tensor = self.outer(self.dropout(F.relu(self.inner(features))))
        return scores
