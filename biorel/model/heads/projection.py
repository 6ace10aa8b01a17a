"""Head and tail versions of a token (section 2.3): e = W1 ReLU(W0 b)."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn


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
