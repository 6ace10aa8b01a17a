"""A linear map of concatenated parts that never builds what it concatenates."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Mix(nn.Module):
    """W [x_1; ...; x_n] + b as W_1 x_1 + ... + W_n x_n + b, where the parts have shapes that broadcast.

    So what all passages share (positions) is mapped once, and what all tokens of a passage share once for a passage.
    """

    def __init__(self, inner: Sequence[int], outer: int) -> None:
        super().__init__()
        self.inner = tuple(inner)
        self.linear = nn.Linear(sum(inner), outer)

    def forward(self, *parts: Tensor) -> Tensor:
        """[..., inner_i] of each part -> [..., outer]."""
        weights = torch.split(self.linear.weight, list(self.inner), dim=1)
        mapped = [F.linear(part, weight) for part, weight in zip(parts, weights, strict=True)]
        return sum(mapped, start=self.linear.bias)
