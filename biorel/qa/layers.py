"""Additive attention that pools a sequence into one vector: equations 4 and 5 of DGCNN."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class AdditiveScore(nn.Module):
    """a . tanh(W x + b) + c of every token: what pools a sequence, labels its tokens, and scores them as starts."""

    def __init__(self, *, width: int, inner: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(width, inner)
        self.score = nn.Linear(inner, 1)

    def forward(self, tokens: Tensor) -> Tensor:
        """[..., D] -> [...]."""
        scores: Tensor = self.score(self.hidden(tokens).tanh())
        return scores.squeeze(-1)


class AttentivePooling(nn.Module):
    """x = sum l_i x_i with l = softmax of the additive scores over the real tokens."""

    def __init__(self, *, width: int) -> None:
        super().__init__()
        self.scores = AdditiveScore(width=width, inner=width)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """[B, T, D] and [B, T], a real token at least in each row -> [B, D]."""
        weights = self.scores(tokens).masked_fill(~mask, float("-inf")).softmax(-1)  # [B, T]
        pooled: Tensor = (weights[:, None, :] @ tokens).squeeze(1)
        return pooled


# MERGED from reader.chance: Draws for training in numbers of 16 bits: four times as many from the generator as torch's own dropout takes.
_STEPS = 1 << 16


def uniform(shape: Sequence[int], device: torch.device) -> Tensor:
    """Integers of -2^15 to 2^15 - 1, each as likely, from torch's generator."""
    number = torch.Size(shape).numel()
    drawn = torch.empty(-(-number // 4), dtype=torch.int64, device=device).random_(-(2**63), None)
    return drawn.view(torch.int16)[:number].view(*shape)


class FastDropout(nn.Module):
    """Sets values to zero with a probability, known to 1 in 65,536, and scales the others up; of training only."""

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.dropped = round(probability * _STEPS)

    def forward(self, values: Tensor) -> Tensor:
        if not self.training or not self.dropped:
            return values
        kept = uniform(values.shape, values.device) >= self.dropped - _STEPS // 2
        return values * (kept * (_STEPS / (_STEPS - self.dropped))).to(values.dtype)


# MERGED from reader.mix: A linear map of concatenated parts that never builds what it concatenates.
class FactoredLinear(nn.Module):
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


# MERGED from reader.positions: Sinusoidal positions: equation 6 of DGCNN.
_BASE = 10_000.0


def sinusoids(length: int, width: int, device: torch.device) -> Tensor:
    """[T, P] with sin(p / 10000^(2i/P)) at 2i and its cosine at 2i + 1; P is even."""
    places = torch.arange(length, device=device, dtype=torch.float32)[:, None]
    rates = _BASE ** (-torch.arange(0, width, 2, device=device, dtype=torch.float32) / width)
    angles = places * rates  # [T, P / 2]
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
