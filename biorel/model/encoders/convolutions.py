"""The convolutional half of a block (section 2.2.2): widths 1, 5, 1 with 4D, 4D, D channels."""

from __future__ import annotations

from collections.abc import Sequence

import torch.nn.functional as F
from torch import Tensor, nn


class Convolutions(nn.Module):
    """b = LN(m + t2), with t0 = ReLU(C_1(m)), t1 = ReLU(C_5(t0)), t2 = C_1(t1).

    Padding is set to zero before each convolution, so that a document scores the same alone and in a batch.
    """

    def __init__(self, *, width: int, kernels: Sequence[int], expansion: int, dropout: float) -> None:
        super().__init__()
        inner = width * expansion
        sizes = [width, *[inner] * (len(kernels) - 1), width]
        self.layers = nn.ModuleList(
            nn.Conv1d(before, after, kernel, padding="same")
            for before, after, kernel in zip(sizes, sizes[1:], kernels, strict=False)
        )
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """[B, T, D] and [B, T] -> [B, T, D]."""
        real = mask[:, None, :]
        channels = tokens.transpose(1, 2)  # [B, D, T]
        for number, layer in enumerate(self.layers, start=1):
            channels = layer(channels * real)
            if number < len(self.layers):
                channels = self.dropout(F.relu(channels))
        convolved: Tensor = self.norm(tokens + self.dropout(channels.transpose(1, 2)))
        return convolved
