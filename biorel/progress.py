"""What a command reports while it runs. The command line shows it; a Python caller hears nothing by default."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol

# all other dev measures are shares of 1, shown as percentages
_NO_SHARES = ("perplexity",)


@dataclass(frozen=True)
class DevScore:
    """The result of one evaluation on the dev split.

    Attributes:
        score: the number to maximise, 0 or more.
        measures: the measures to report, by name.
        thresholds: the decision thresholds that gave them, if the model has any.
    """

    score: float
    measures: Mapping[str, float]
    thresholds: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    """The state of a training after one step, or after one epoch if `dev` is set.

    Attributes:
        epoch: number of the epoch, from 1.
        epoch_step: steps taken in this epoch.
        steps: steps of this epoch.
        losses: parts of the loss by name, each the mean over the epoch so far.
        speed: training examples per second.
        dev: the evaluation at the end of the epoch.
        best: whether this epoch is the best so far.
    """

    epoch: int
    epoch_step: int
    steps: int
    losses: Mapping[str, float]
    speed: float
    dev: DevScore | None = None
    best: bool = False


class Progress(Protocol):
    """Receives the progress of a command."""

    def line(self, text: str) -> None:
        """Show one or more lines of text."""
        ...

    def documents(self) -> AbstractContextManager[Callable[[int], None]]:
        """Count documents: the block calls the function it gets with the number of documents done so far."""
        ...

    def training(self, reports: Iterable[Report], *, epochs: int, unit: str) -> Iterator[Report]:
        """Show the reports of a training and pass them on.

        Args:
            epochs: the number of epochs planned.
            unit: what `Report.speed` counts, such as "docs".
        """
        ...


class Silent:
    """Shows nothing."""

    def line(self, text: str) -> None:
        """Ignore the text."""

    def documents(self) -> AbstractContextManager[Callable[[int], None]]:
        """Ignore the counts."""
        return nullcontext(lambda done: None)

    def training(self, reports: Iterable[Report], *, epochs: int, unit: str) -> Iterator[Report]:
        """Pass the reports on."""
        return iter(reports)


SILENT: Progress = Silent()


def describe_step(report: Report, *, epochs: int, unit: str) -> str:
    """One line on the losses and the speed so far."""
    return f"epoch {report.epoch}/{epochs}  {_losses(report)}  {report.speed:.1f} {unit}/s"


def describe_epoch(report: Report, dev: DevScore, *, epochs: int, unit: str) -> str:
    """One line on a finished epoch and its evaluation on dev."""
    measures = ", ".join(
        f"{measure_label(name)} {value if name in _NO_SHARES else 100 * value:.1f}"
        for name, value in dev.measures.items()
    )
    best = "  best so far" if report.best else ""
    return f"epoch {report.epoch}/{epochs}  {_losses(report)}  dev {measures}  {report.speed:.1f} {unit}/s{best}"


def measure_label(name: str) -> str:
    """The name of a loss or measure as people read it: `ner_f1` is "NER F1"."""
    return name.replace("_", " ").replace("ner ", "NER ").replace("f1", "F1")


def _losses(report: Report) -> str:
    return ", ".join(f"{measure_label(name)} {value:.3f}" for name, value in report.losses.items())
