"""The equations of both papers in plain float64, token by token, to test the layers against."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch

Vector = np.ndarray


def sigmoid(x: Vector) -> Vector:
    return 1 / (1 + np.exp(-np.asarray(x, dtype=np.float64)))


def softmax(x: Vector) -> Vector:
    e = np.exp(np.asarray(x, dtype=np.float64) - np.max(x))
    return e / e.sum()


def convolution(tokens: Vector, weight: Vector, bias: Vector, dilation: int) -> Vector:
    """[T, inner] -> [T, outer]; weight [outer, inner, K], zeros beyond the ends."""
    length, kernel = len(tokens), weight.shape[2]
    out = np.tile(bias.astype(np.float64), (length, 1))
    for place in range(length):
        for step in range(kernel):
            source = place + (step - kernel // 2) * dilation
            if 0 <= source < length:
                out[place] += weight[:, :, step] @ tokens[source]
    return out


def additive(tokens: Vector, hidden: tuple[Vector, Vector], score: tuple[Vector, Vector]) -> Vector:
    """[T, D] -> [T]: a . tanh(W x + b) + c."""
    return np.array([float(score[0][0] @ np.tanh(hidden[0] @ x + hidden[1]) + score[1][0]) for x in tokens])


def levenshtein(a: Sequence[object], b: Sequence[object]) -> int:
    table = [[i + j if i * j == 0 else 0 for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            change = table[i - 1][j - 1] + (a[i - 1] != b[j - 1])
            table[i][j] = min(change, table[i - 1][j] + 1, table[i][j - 1] + 1)
    return table[-1][-1]


def window(symbols: Sequence[object], place: int, size: int) -> list[object]:
    begin = place - size // 2
    return [symbols[i] if 0 <= i < len(symbols) else None for i in range(begin, begin + size)]


def position(place: int, index: int, width: int) -> float:
    function: Callable[[float], float] = math.cos if index % 2 else math.sin
    return function(place / 10000 ** (2 * (index // 2) / width))


def parameter(module: torch.nn.Module, name: str) -> Vector:
    return module.get_parameter(name).detach().numpy()


def linear(module: torch.nn.Module, name: str) -> tuple[Vector, Vector]:
    """Weight and bias of a linear layer or convolution."""
    return parameter(module, f"{name}.weight"), parameter(module, f"{name}.bias")


def random_tokens(*shape: int, seed: int = 0) -> torch.Tensor:
    """A tensor of random token vectors in float64."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
