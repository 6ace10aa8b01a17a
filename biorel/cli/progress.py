"""Progress on stderr: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from rich import progress as bars
from rich.console import Console

from biorel.progress import Report, describe_epoch, describe_step


class TerminalProgress:
    """Shows the progress of a command to a person."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)

    def line(self, text: str) -> None:
        """Print the text, above a bar if one is shown."""
        self._console.print(text)

    @contextmanager
    def documents(self) -> Iterator[Callable[[int], None]]:
        """Count documents on a terminal; elsewhere show nothing."""
        with self._bar(bars.TextColumn("{task.completed} documents"), bars.TimeElapsedColumn()) as bar:
            task = bar.add_task("", total=None)

            def show(done: int) -> None:
                bar.update(task, completed=done)

            yield show

    def training(self, reports: Iterable[Report], *, epochs: int, unit: str) -> Iterator[Report]:
        """Show a bar for the steps of each epoch, and print a line after each epoch."""
        columns = (
            bars.TextColumn("{task.description}"),
            bars.BarColumn(),
            bars.TimeElapsedColumn(),
            bars.TimeRemainingColumn(),
        )
        with self._bar(*columns) as bar:
            task = bar.add_task("")
            for report in reports:
                description = describe_step(report, epochs=epochs, unit=unit)
                bar.update(task, completed=report.epoch_step, total=report.steps, description=description)
                if report.dev is not None:
                    self.line(describe_epoch(report, report.dev, epochs=epochs, unit=unit))
                yield report

    def _bar(self, *columns: bars.ProgressColumn) -> bars.Progress:
        return bars.Progress(*columns, console=self._console, transient=True, disable=not self._console.is_terminal)
