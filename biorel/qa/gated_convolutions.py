"""Gated dilated convolutions with residual: equations 1 to 3 of DGCNN, and 9 in training."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from biorel.qa.layers import FastDropout, uniform

_SHUT = -2.0


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
        # a gate that begins nearly shut passes a token on through many layers; half open nine of them leave 1/500 of it
        nn.init.constant_(self.gate.bias, _SHUT)  # type: ignore[arg-type]
        self.noise = noise

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """[B, T, inner] and [B, T] -> [B, T, outer]."""
        real = tokens * mask[:, :, None]
        linear, gate = self._convolved(real).chunk(2, dim=-1)
        if self.training and self.noise:
            gate = gate * uniform(gate.shape, gate.device).to(gate.dtype).mul_(self.noise / 2**15).add_(1)
        opened = gate.sigmoid()
        return torch.lerp(real, linear, opened) if self.residual else linear * opened

    def _convolved(self, tokens: Tensor) -> Tensor:
        """[B, T, inner] -> [B, T, 2 outer]: both convolutions as one product of matrices, which a CPU does fastest."""
        dilation, kernel = self.linear.dilation[0], self.linear.kernel_size[0]
        beyond = (kernel - 1) * dilation
        padded = F.pad(tokens, (0, 0, beyond // 2, beyond - beyond // 2))
        length = tokens.shape[1]
        taps = torch.cat([padded[:, step * dilation : step * dilation + length] for step in range(kernel)], dim=-1)
        weight = torch.cat([self.linear.weight, self.gate.weight])  # [2 outer, inner, K]
        bias = torch.cat([self.linear.bias, self.gate.bias])  # type: ignore[list-item]
        return F.linear(taps, weight.transpose(1, 2).flatten(1), bias)


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
        self.dropout = FastDropout(dropout)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """[B, T, inner] and [B, T] -> [B, T, width]."""
        for layer in self.layers:
            tokens = layer(self.dropout(tokens), mask)
        return tokens


def receptive_field(kernel: int, dilations: Sequence[int]) -> int:
    """Tokens that one token of the last layer sees, itself included."""
    return 1 + (kernel - 1) * sum(dilations)
