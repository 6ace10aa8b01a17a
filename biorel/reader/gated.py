"""Gated dilated convolutions with residual: equations 1 to 3 of DGCNN, and 9 in training."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn


class GatedConvolution(nn.Module):
    """Y = X (1 - s) + C1(X) s with s = sigmoid(C2(X)); where the widths differ Y = C1(X) s.

    In training s = sigmoid(C2(X) (1 + e)), e drawn from [-noise, noise] for every value of the gate. Padding is set to
    zero before the convolutions, so that a passage scores the same alone and in a batch.
    """

    def __init__(self, *, inner: int, outer: int, kernel: int, dilation: int, noise: float) -> None:
        super().__init__()
        self.linear = nn.Conv1d(inner, outer, kernel, padding="same", dilation=dilation)
        self.gate = nn.Conv1d(inner, outer, kernel, padding="same", dilation=dilation)
        self.residual = inner == outer
        self.noise = noise

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """[B, T, inner] and [B, T] -> [B, T, outer]."""
        real = tokens.transpose(1, 2) * mask[:, None, :]  # [B, inner, T]
        gate = self.gate(real)
        if self.training and self.noise:
            gate = gate * (1 + self.noise * (2 * torch.rand_like(gate) - 1))
        opened = gate.sigmoid()
        passed: Tensor = self.linear(real) * opened
        if self.residual:
            passed = passed + real * (1 - opened)
        return passed.transpose(1, 2)


class GatedStack(nn.Module):
    """Gated convolutions one after the other, the first from `inner` to `width`, with dropout before each."""

    def __init__(
        self, *, inner: int, width: int, kernel: int, dilations: Sequence[int], noise: float, dropout: float
    ) -> None:
        super().__init__()
        sizes = [inner, *[width] * len(dilations)]
        self.layers = nn.ModuleList(
            GatedConvolution(inner=before, outer=width, kernel=kernel, dilation=dilation, noise=noise)
            for before, dilation in zip(sizes, dilations, strict=False)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """[B, T, inner] and [B, T] -> [B, T, width]."""
        for layer in self.layers:
            tokens = layer(self.dropout(tokens), mask)
        return tokens


def receptive_field(kernel: int, dilations: Sequence[int]) -> int:
    """Tokens that one token of the last layer sees, itself included."""
    return 1 + (kernel - 1) * sum(dilations)
