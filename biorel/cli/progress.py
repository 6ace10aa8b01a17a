"""Progress for people: a bar on a terminal, plain lines elsewhere. All of it goes to stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from biorel.training.loop import Report

_console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)


def line(text: str) -> None:
    """Print one piece of news."""
    _console.print(text)


def training(reports: Iterable[Report], epochs: int, unit: str = "docs") -> Iterator[Report]:
    """Pass the reports on; a bar for the steps of an epoch, one line for each finished epoch."""
    from biorel.training.loop import display_name

    with _steps() as bar:
        task = bar.add_task("")
        for report in reports:
            speed = f"{report.speed:.1f} {unit}/s"
            losses = ", ".join(f"{display_name(name)} {value:.3f}" for name, value in report.losses.items())
            bar.update(task, completed=report.epoch_step, total=report.steps)
            bar.update(task, description=f"epoch {report.epoch}/{epochs}  {losses}  {speed}")
            if report.dev is not None:
                measured = report.dev.measures.items()
                told = ", ".join(f"{display_name(name)} {100 * value:.1f}" for name, value in measured)
                best = "  best so far" if report.best else ""
                _console.print(f"epoch {report.epoch}/{epochs}  {losses}  dev {told}  {speed}{best}")
            yield report


def pretraining(reports: Iterable[Report], epochs: int) -> Iterator[Report]:
    """Pass the reports on; a bar for the steps of an epoch."""
    with _steps() as bar:
        task = bar.add_task("")
        for report in reports:
            bar.update(task, completed=report.epoch_step, total=report.steps)
            told = f"loss {report.losses['loss']:.3f}  {report.speed:.0f} tokens/s"
            bar.update(task, description=f"epoch {report.epoch}/{epochs}  {told}")
            yield report


def _steps() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    return Progress(*columns, console=_console, transient=True, disable=not _console.is_terminal)


@contextmanager
def documents() -> Iterator[Callable[[int], None]]:
    """Yield a function that is told the number of documents done."""
    columns = (TextColumn("{task.completed} documents"), TimeElapsedColumn())
    with Progress(*columns, console=_console, transient=True, disable=not _console.is_terminal) as bar:
        task = bar.add_task("", total=None)

        def done(number: int) -> None:
            bar.update(task, completed=number)

        yield done
