"""Train a network in a loop that yields reports; progress bars, result files and thresholds are left to the caller.

The loop trains an `Objective`: relations (`training.relations`), a reader (`qa.training`), or an encoder that
predicts hidden tokens (`training.pretrain`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar, Protocol

import torch
from torch import Tensor, nn

from biorel.errors import ModelError
from biorel.progress import DevScore, Report
from biorel.training.checkpoint import TrainingState, save_state
from biorel.training.optim import add_gradient_noise, learning_rate


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """How long and how fast to train.

    Attributes:
        seed: the seed of the order of the steps and of their random draws.
        epochs: passes over the training data, at most.
        learning_rate: at its peak.
        warmup: steps until the peak.
        final_rate: the learning rate at the end, as a share of the peak.
        clip: the largest norm of the gradient.
        patience: epochs without a better dev score after which training stops; 0 for never.
        gradient_noise: eta of the annealed Gaussian noise on the gradient; 0 for none.
        checkpoint_steps: steps between two checkpoints.
    """

    seed: int
    epochs: int
    learning_rate: float
    warmup: int
    final_rate: float
    clip: float
    patience: int = 0
    gradient_noise: float = 0.0
    checkpoint_steps: int = 200


class Objective(Protocol):
    """What is trained: the steps of each epoch, and the loss of a step.

    Attributes:
        unit: the unit in which speed is counted, such as `documents`.
    """

    unit: ClassVar[str]

    def plans(self, epoch: int) -> Sequence[Any]:
        """The steps of one epoch. The same number of an epoch always gives the same steps."""
        ...

    def size(self, plan: Any) -> int:
        """Number of units in a step."""
        ...

    def losses(self, plan: Any) -> tuple[Tensor, Mapping[str, float]]:
        """The loss to minimise, and its parts by name; the first part is `loss`."""
        ...


def train(
    state: TrainingState,
    objective: Objective,
    schedule: Schedule,
    evaluate: Callable[[], DevScore],
    folder: Path,
    key: str,
) -> Iterator[Report]:
    """Train from `state` to the last epoch, or until the dev score stops improving.

    Args:
        state: changed in place. At the end `state.best` holds the averaged weights with the best dev score.
        evaluate: scores the network on dev; it is called while the network has the averaged weights.
        folder, key: where to write the checkpoint, and the run that it belongs to.

    Raises:
        ModelError: the loss is infinite or not a number.
    """
    planned = len(objective.plans(0)) * schedule.epochs
    while state.epoch < schedule.epochs and not _out_of_patience(state, schedule):
        plans = objective.plans(state.epoch)
        for plan in plans[state.epoch_step :]:
            began = time.perf_counter()
            state.model.train()
            losses = _step(state, objective, plan, schedule, planned)
            _add_to_sums(state, losses, objective.size(plan), time.perf_counter() - began)
            state.epoch_step += 1
            state.step += 1
            if state.step % schedule.checkpoint_steps == 0:
                save_state(state, folder, key)
            yield _report(state, len(plans))
        with state.average.applied_to(state.model):
            dev = evaluate()
        best = dev.score > state.best_score
        if best:
            state.best = {name: value.clone() for name, value in state.average.shadow.items()}
            state.best_score, state.best_epoch = dev.score, state.epoch + 1
            state.best_thresholds = dev.thresholds
        report = _report(state, len(plans), dev, best)
        state.history.append(
            {
                "epoch": state.epoch + 1,
                **report.losses,
                **{f"dev_{name}": value for name, value in dev.measures.items()},
                f"{objective.unit}_per_second": report.speed,
                "seconds": state.sums["seconds"],
            }
        )
        state.epoch, state.epoch_step, state.sums = state.epoch + 1, 0, {}
        save_state(state, folder, key)
        yield report


def update_weights(state: TrainingState, loss: Tensor, *, rate: float, clip: float, noise: float = 0.0) -> None:
    """One step of the optimizer: update the weights and their running average. The caller counts the steps.

    Args:
        loss: scalar, with its graph.
        rate: the learning rate of this step.
        clip: the largest norm of the gradient.
        noise: eta of the annealed noise on the gradient; 0 for none.

    Raises:
        ModelError: the loss is infinite or not a number.
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


def speed_metrics(history: Sequence[Mapping[str, float]], unit: str) -> dict[str, float]:
    """The mean duration and speed over the epochs of a history, for metrics.json."""
    speed = f"{unit}_per_second"
    return {
        "seconds_per_epoch": fmean(row["seconds"] for row in history),
        speed: fmean(row[speed] for row in history),
    }


def _out_of_patience(state: TrainingState, schedule: Schedule) -> bool:
    return bool(schedule.patience) and state.epoch - state.best_epoch >= schedule.patience


def _step(
    state: TrainingState, objective: Objective, plan: Any, schedule: Schedule, planned: int
) -> Mapping[str, float]:
    """Take one step; returns the parts of the loss."""
    rate = learning_rate(
        state.step, peak=schedule.learning_rate, warmup=schedule.warmup, total=planned, floor=schedule.final_rate
    )
    loss, parts = objective.losses(plan)
    update_weights(state, loss, rate=rate, clip=schedule.clip, noise=schedule.gradient_noise)
    return parts


def _add_to_sums(state: TrainingState, losses: Mapping[str, float], units: int, seconds: float) -> None:
    for name, value in {**losses, "steps": 1, "units": units, "seconds": seconds}.items():
        state.sums[name] = state.sums.get(name, 0.0) + value


def _report(state: TrainingState, steps: int, dev: DevScore | None = None, best: bool = False) -> Report:
    sums = dict(state.sums)
    count, units, seconds = (sums.pop(name, 0.0) for name in ("steps", "units", "seconds"))
    return Report(
        epoch=state.epoch + 1,
        epoch_step=state.epoch_step,
        steps=steps,
        losses={name: value / max(1.0, count) for name, value in sums.items()},
        speed=units / max(1e-9, seconds),
        dev=dev,
        best=best,
    )
