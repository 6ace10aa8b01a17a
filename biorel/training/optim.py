"""Adam as in the paper (appendix A), with optional gradient noise, and a running average of the weights."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

NOISE_DECAY = 0.55
_BERT_LAYER = re.compile(r"\bbert\.(?:.*\.layer\.(\d+)\.)?")


def build_optimizer(
    model: nn.Module,
    *,
    rate: float,
    betas: tuple[float, float],
    epsilon: float,
    weight_decay: float,
    share: Callable[[str], float] = lambda name: 1.0,
) -> torch.optim.AdamW:
    """AdamW over all parameters; with weight decay 0 it is Adam. Biases and norms are not decayed.

    Args:
        share: maps a parameter's name to its share of the learning rate, which becomes the key `share` of its group.
    """
    groups: dict[tuple[float, bool], list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        groups.setdefault((share(name), parameter.dim() > 1), []).append(parameter)
    return torch.optim.AdamW(
        [
            {
                "params": groups[group_share, decays],
                "weight_decay": weight_decay if decays else 0.0,
                "share": group_share,
            }
            for group_share, decays in sorted(groups, reverse=True)
        ],
        lr=rate,
        betas=betas,
        eps=epsilon,
    )


def layer_share(name: str, *, layers: int, top: float, decay: float) -> float:
    """A parameter's share of the learning rate: layer-wise decay in a BERT.

    It is 1 outside of the BERT, `top` in its last block, and `decay` times the share of the block above in every other
    block. The embeddings count as the block below the first.
    """
    match = _BERT_LAYER.search(name)
    if match is None:
        return 1.0
    depth = layers - 1 - int(match[1]) if match[1] is not None else layers
    return top * decay**depth


def learning_rate(step: int, *, peak: float, warmup: int, total: int, floor: float) -> float:
    """Linear warm-up to `peak`, then half a cosine down to `floor` times the peak at step `total`."""
    if step < warmup:
        return peak * (step + 1) / warmup
    progress = min(1.0, (step - warmup) / max(1, total - warmup))
    return peak * (floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * progress)))


def add_gradient_noise(model: nn.Module, *, eta: float, step: int) -> None:
    """Add Gaussian noise of variance eta / (1 + step)^0.55 to every gradient (Neelakantan et al. 2015)."""
    deviation = math.sqrt(eta / (1 + step) ** NOISE_DECAY)
    for parameter in model.parameters():
        if parameter.grad is not None:
            parameter.grad.add_(torch.randn_like(parameter.grad), alpha=deviation)


class WeightAverage:
    """An exponential moving average of a network's parameters, which is evaluated and saved in their place.

    The decay is min(decay, (1 + n) / (10 + n)) after n updates, so that the average soon forgets the initial weights.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self.updates = 0
        self.shadow: dict[str, Tensor] = {
            name: parameter.detach().clone() for name, parameter in model.named_parameters()
        }

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        """Move the average towards the present parameters."""
        self.updates += 1
        decay = min(self.decay, (1 + self.updates) / (10 + self.updates))
        for name, parameter in model.named_parameters():
            self.shadow[name].lerp_(parameter, 1 - decay)

    @contextmanager
    def applied_to(self, model: nn.Module) -> Iterator[None]:
        """Within the context the network has the average as its weights."""
        current = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
        _copy(self.shadow, model)
        try:
            yield
        finally:
            _copy(current, model)


@torch.no_grad()
def _copy(weights: dict[str, Tensor], model: nn.Module) -> None:
    for name, parameter in model.named_parameters():
        parameter.copy_(weights[name])
