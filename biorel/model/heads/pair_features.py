"""Scores from the hand-made features of a pair (`dataset.features`), added to the pooled scores."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn


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
