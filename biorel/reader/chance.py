"""Draws for training in numbers of 16 bits: four times as many from the generator as torch's own dropout takes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

_STEPS = 1 << 16


def uniform(shape: Sequence[int], device: torch.device) -> Tensor:
    """Integers of -2^15 to 2^15 - 1, each as likely, from torch's generator."""
    number = torch.Size(shape).numel()
    drawn = torch.empty(-(-number // 4), dtype=torch.int64, device=device).random_(-(2**63), None)
    return drawn.view(torch.int16)[:number].view(*shape)


class Dropout(nn.Module):
    """Sets values to zero with a probability, known to 1 in 65,536, and scales the others up; of training only."""

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.dropped = round(probability * _STEPS)

    def forward(self, values: Tensor) -> Tensor:
        if not self.training or not self.dropped:
            return values
        kept = uniform(values.shape, values.device) >= self.dropped - _STEPS // 2
        return values * (kept * (_STEPS / (_STEPS - self.dropped))).to(values.dtype)
