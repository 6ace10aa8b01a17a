"""The small layers of a reader: additive attention, sinusoidal positions, a factored linear map, fast dropout."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

_POSITION_BASE = 10_000.0
_INT16_VALUES = 1 << 16


class AdditiveScore(nn.Module):
    """a . tanh(W x + b) + c for every token x: DGCNN's equation 5 before the softmax, and equation 7's logit."""

    def __init__(self, *, width: int, inner: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(width, inner)
        self.score = nn.Linear(inner, 1)

    def forward(self, tokens: Tensor) -> Tensor:
        """[..., D] -> [...]."""
        scores: Tensor = self.score(self.hidden(tokens).tanh())
        return scores.squeeze(-1)


class AdditiveAttention(nn.Module):
    """DGCNN's equations 4 and 5: x = sum_i l_i x_i, where l is the softmax of the additive scores of the real tokens.

    It pools a sequence into one vector. Act is tanh; equation 4 is equation 5 without the biases b and c.
    """

    def __init__(self, *, width: int) -> None:
        super().__init__()
        self.scores = AdditiveScore(width=width, inner=width)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """[B, T, D] and [B, T] -> [B, D]; each row of the mask has at least one real token."""
        weights = self.scores(tokens).masked_fill(~mask, float("-inf")).softmax(-1)  # [B, T]
        pooled: Tensor = (weights[:, None, :] @ tokens).squeeze(1)
        return pooled


def sinusoidal_positions(length: int, width: int, device: torch.device) -> Tensor:
    """DGCNN's equation 6: [T, P] with sin(p / 10000^(2i/P)) in column 2i and its cosine in column 2i + 1; P is even."""
    positions = torch.arange(length, device=device, dtype=torch.float32)[:, None]
    rates = _POSITION_BASE ** (-torch.arange(0, width, 2, device=device, dtype=torch.float32) / width)
    angles = positions * rates  # [T, P / 2]
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


class FactoredLinear(nn.Module):
    """W [x_1; ...; x_n] + b computed as W_1 x_1 + ... + W_n x_n + b, without building the concatenation.

    The parts may have different shapes that broadcast. Positions, which all passages share, are then mapped once, and
    a question's vector, which all tokens of a passage share, once a passage.
    """

    def __init__(self, inner: Sequence[int], outer: int) -> None:
        super().__init__()
        self.inner = tuple(inner)
        self.linear = nn.Linear(sum(inner), outer)

    def forward(self, *parts: Tensor) -> Tensor:
        """[..., inner_i] for each part i -> [..., outer]."""
        weights = torch.split(self.linear.weight, list(self.inner), dim=1)
        mapped = [F.linear(part, weight) for part, weight in zip(parts, weights, strict=True)]
        return sum(mapped, start=self.linear.bias)


def random_int16(shape: Sequence[int], device: torch.device) -> Tensor:
    """Uniform random integers of 16 bits, -2^15 to 2^15 - 1, from torch's global generator.

    Four come from one draw of 64 bits, which is faster than torch's own dropout, with one draw a value.
    """
    number = torch.Size(shape).numel()
    drawn = torch.empty(-(-number // 4), dtype=torch.int64, device=device).random_(-(2**63), None)
    return drawn.view(torch.int16)[:number].view(*shape)


class FastDropout(nn.Module):
    """Dropout from 16-bit random numbers; the probability is rounded to a multiple of 1 / 65,536."""

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.dropped = round(probability * _INT16_VALUES)

    def forward(self, values: Tensor) -> Tensor:
        if not self.training or not self.dropped:
            return values
        kept = random_int16(values.shape, values.device) >= self.dropped - _INT16_VALUES // 2
        return values * (kept * (_INT16_VALUES / (_INT16_VALUES - self.dropped))).to(values.dtype)
