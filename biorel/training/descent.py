"""One step down the gradient of a loss: what every training of ours does after it has a loss."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from biorel.errors import ModelError
from biorel.training.checkpoint import TrainingState
from biorel.training.optim import add_gradient_noise


def descend(state: TrainingState, loss: Tensor, *, rate: float, clip: float, noise: float = 0.0) -> None:
    """Update the weights and their running average; the state's counts of steps are the caller's.

    Args:
        loss: scalar, with its graph.
        rate: the learning rate of this step.
        clip: the gradient's norm is clipped to this.
        noise: eta of the annealed noise on the gradient; 0 is none.

    Raises:
        ModelError: the loss is no longer a number.
    """
    if not torch.isfinite(loss):
        raise ModelError(
            f"the loss is {loss.item()} at step {state.step + 1} of epoch {state.epoch + 1}",
            "lower --learning-rate" + (" or --gradient-noise" if noise else ""),
        )
    for group in state.optimizer.param_groups:
        group["lr"] = rate * group.get("share", 1.0)
    state.optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    if noise:
        add_gradient_noise(state.model, eta=noise, step=state.step)
    nn.utils.clip_grad_norm_(state.model.parameters(), clip)
    state.optimizer.step()
    state.average.update(state.model)
