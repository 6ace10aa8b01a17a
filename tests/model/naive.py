"""The equations of the paper, one scalar or one token at a time, in float64 without torch's layers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch

Vector = np.ndarray


def weights(module: torch.nn.Module) -> dict[str, np.ndarray]:
    """The parameters by name."""
    return {name: parameter.detach().double().numpy() for name, parameter in module.named_parameters()}


def affine(weight: np.ndarray, bias: np.ndarray, vector: Vector) -> Vector:
    """W x + b."""
    return np.array(
        [
            sum(weight[row, column] * vector[column] for column in range(len(vector))) + bias[row]
            for row in range(len(bias))
        ]
    )


def relu(vector: Vector) -> Vector:
    return np.array([max(0.0, float(value)) for value in vector])


def softmax(scores: Sequence[float]) -> list[float]:
    peak = max(scores)
    powers = [math.exp(score - peak) for score in scores]
    return [power / math.fsum(powers) for power in powers]


def layer_norm(vector: Vector, weight: Vector, bias: Vector, epsilon: float = 1e-5) -> Vector:
    mean = math.fsum(vector) / len(vector)
    variance = math.fsum((value - mean) ** 2 for value in vector) / len(vector)
    return np.array(
        [
            (value - mean) / math.sqrt(variance + epsilon) * w + b
            for value, w, b in zip(vector, weight, bias, strict=True)
        ]
    )


def log_sum_exp(values: Sequence[float]) -> float:
    peak = max(values)
    return peak + math.log(math.fsum(math.exp(value - peak) for value in values))
