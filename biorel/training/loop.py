"""The training loop: a generator of reports. It draws no progress bar, writes no table, tunes no threshold itself.

What is trained is a `Work`: relations (`training.relations`), a reader (`qa.objective`), or an encoder that names
hidden tokens (`training.pretraining`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar, Protocol

from torch import Tensor

from biorel.training.checkpoint import TrainingState, save_state
from biorel.training.descent import descend
from biorel.training.optim import learning_rate


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """How long and how fast; the fields are explained at `config.Train`."""

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
        unit: what the speed is counted in, `documents` or the like.
    """

    unit: ClassVar[str]

    def plans(self, epoch: int) -> Sequence[Any]:
        """The steps of one epoch, which hang on the epoch's number and on nothing else that changes."""
        ...

    def size(self, plan: Any) -> int:
        """Units of a step."""
        ...

    def losses(self, plan: Any) -> tuple[Tensor, Mapping[str, float]]:
        """The loss to descend, and its parts by name; the first is `loss`."""
        ...


@dataclass(frozen=True)
class DevScore:
    """What the evaluation on dev says.

    Attributes:
        score: to maximise, 0 or more.
        measures: what is told of it, by name.
        thresholds: those that gave it, where there are any.
    """

    score: float
    measures: Mapping[str, float]
    thresholds: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    """After a step, or (with `dev`) after an epoch: means over the epoch so far, units per second of training."""

    epoch: int
    epoch_step: int
    steps: int
    losses: Mapping[str, float]
    speed: float
    dev: DevScore | None = None
    best: bool = False


def train(
    state: TrainingState,
    work: Objective,
    schedule: Schedule,
    evaluate: Callable[[], DevScore],
    folder: Path,
    key: str,
) -> Iterator[Report]:
    """Train from where `state` stands to the last epoch, or until dev stops improving.

    Args:
        state: changed in place; at the end it holds the best averaged weights.
        work: the steps.
        evaluate: scores the network as it stands, called with the averaged weights in place.
        folder, key: where the checkpoint goes, and the run that it belongs to.

    Raises:
        ModelError: the loss is no longer a number.
    """
    planned = len(work.plans(0)) * schedule.epochs
    while state.epoch < schedule.epochs and not _exhausted(state, schedule):
        plans = work.plans(state.epoch)
        for plan in plans[state.epoch_step :]:
            began = time.perf_counter()
            state.model.train()
            losses = _step(state, work, plan, schedule, planned)
            _book(state, losses, work.size(plan), time.perf_counter() - began)
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
                f"{work.unit}_per_second": report.speed,
                "seconds": state.sums["seconds"],
            }
        )
        state.epoch, state.epoch_step, state.sums = state.epoch + 1, 0, {}
        save_state(state, folder, key)
        yield report


def spelled(measure: str) -> str:
    """A part of a loss or a measure on dev as people are told it: `ner_f1` is NER F1."""
    return measure.replace("_", " ").replace("ner ", "NER ").replace("f1", "F1")


def pace(history: Sequence[Mapping[str, float]], unit: str) -> dict[str, float]:
    """Means over the epochs of a history, as `metrics.json` has them."""
    speed = f"{unit}_per_second"
    return {
        "seconds_per_epoch": fmean(row["seconds"] for row in history),
        speed: fmean(row[speed] for row in history),
    }


def _exhausted(state: TrainingState, schedule: Schedule) -> bool:
    return bool(schedule.patience) and state.epoch - state.best_epoch >= schedule.patience


def _step(state: TrainingState, work: Objective, plan: Any, schedule: Schedule, planned: int) -> Mapping[str, float]:
    """One update; returns the parts of the loss."""
    rate = learning_rate(
        state.step, peak=schedule.learning_rate, warmup=schedule.warmup, total=planned, floor=schedule.final_rate
    )
    loss, parts = work.losses(plan)
    descend(state, loss, rate=rate, clip=schedule.clip, noise=schedule.gradient_noise)
    return parts


def _book(state: TrainingState, losses: Mapping[str, float], units: int, seconds: float) -> None:
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
