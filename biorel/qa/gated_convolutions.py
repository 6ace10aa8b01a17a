"""DGCNN's gated dilated convolutions: equations 1 to 3, and equation 9 in training."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from biorel.qa.layers import FastDropout, random_int16

_INITIAL_GATE_BIAS = -2.0


class GatedConvolution(nn.Module):
    """Y = X (1 - s) + C1(X) s with the gate s = sigmoid(C2(X)): equation 3, which is equivalent to equation 2.

    Where the input and output widths differ, Y = C1(X) s (equation 1). In training s = sigmoid(C2(X) (1 + e)), with e
    drawn from [-noise, noise] for every value of the gate (equation 9).

    Padding is set to zero before the convolutions, so that a passage has the same output alone and in a batch.
    """

    def __init__(self, *, inner: int, outer: int, kernel: int, dilation: int, noise: float) -> None:
        super().__init__()
        self.linear = nn.Conv1d(inner, outer, kernel, padding="same", dilation=dilation)
        self.gate = nn.Conv1d(inner, outer, kernel, padding="same", dilation=dilation)
        self.residual = inner == outer
        # gates that start nearly closed pass a token through many layers; half open, nine leave 1/500 of it
        nn.init.constant_(self.gate.bias, _INITIAL_GATE_BIAS)  # type: ignore[arg-type]
        self.noise = noise

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """[B, T, inner] and [B, T] -> [B, T, outer]."""
        real = tokens * mask[:, :, None]
        linear, gate = self._convolve(real).chunk(2, dim=-1)
        if self.training and self.noise:
            gate = gate * random_int16(gate.shape, gate.device).to(gate.dtype).mul_(self.noise / 2**15).add_(1)
        opened = gate.sigmoid()
        return torch.lerp(real, linear, opened) if self.residual else linear * opened

    def _convolve(self, tokens: Tensor) -> Tensor:
        """[B, T, inner] -> [B, T, 2 outer]: C1 and C2 as one matrix product, which is fastest on a CPU."""
        dilation, kernel = self.linear.dilation[0], self.linear.kernel_size[0]
        padding = (kernel - 1) * dilation
        padded = F.pad(tokens, (0, 0, padding // 2, padding - padding // 2))
        length = tokens.shape[1]
        taps = torch.cat([padded[:, step * dilation : step * dilation + length] for step in range(kernel)], dim=-1)
        weight = torch.cat([self.linear.weight, self.gate.weight])  # [2 outer, inner, kernel]
        bias = torch.cat([self.linear.bias, self.gate.bias])  # type: ignore[list-item]
        return F.linear(taps, weight.transpose(1, 2).flatten(1), bias)


class GatedStack(nn.Module):
    """Gated convolutions in sequence, the first from width `inner` to `width`, with dropout before each."""

    def __init__(
        self, *, inner: int, width: int, kernel: int, dilations: Sequence[int], noise: float, dropout: float
    ) -> None:
        super().__init__()
        widths = [inner, *[width] * len(dilations)]
        self.layers = nn.ModuleList(
            GatedConvolution(inner=before, outer=width, kernel=kernel, dilation=dilation, noise=noise)
            for before, dilation in zip(widths, dilations, strict=False)
        )
        self.dropout = FastDropout(dropout)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """[B, T, inner] and [B, T] -> [B, T, width]."""
        for layer in self.layers:
            tokens = layer(self.dropout(tokens), mask)
        return tokens


def receptive_field(kernel: int, dilations: Sequence[int]) -> int:
    """The number of input tokens that affect one token of the last layer, including itself."""
    return 1 + (kernel - 1) * sum(dilations)
