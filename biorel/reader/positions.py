"""Sinusoidal positions: equation 6 of DGCNN."""

from __future__ import annotations

import torch
from torch import Tensor

_BASE = 10_000.0


def sinusoids(length: int, width: int, device: torch.device) -> Tensor:
    """[T, P] with sin(p / 10000^(2i/P)) at 2i and its cosine at 2i + 1; P is even."""
    places = torch.arange(length, device=device, dtype=torch.float32)[:, None]
    rates = _BASE ** (-torch.arange(0, width, 2, device=device, dtype=torch.float32) / width)
    angles = places * rates  # [T, P / 2]
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
