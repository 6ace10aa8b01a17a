"""A `Progress` that remembers what a command reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext

from biorel.progress import Report


class Recorder:
    """Remembers the lines, the counts of documents and the training reports of a command.

    Attributes:
        lines: every line of text.
        done: every count of documents.
        reports: every report of a training.
    """

    def __init__(self, watch: Callable[[Iterable[Report]], Iterable[Report]] = iter) -> None:
        """`watch` sees the stream of training reports and may end it."""
        self.lines: list[str] = []
        self.done: list[int] = []
        self.reports: list[Report] = []
        self._watch = watch

    def line(self, text: str) -> None:
        self.lines.append(text)

    def documents(self) -> AbstractContextManager[Callable[[int], None]]:
        return nullcontext(self.done.append)

    def training(self, reports: Iterable[Report], *, epochs: int, unit: str) -> Iterator[Report]:
        for report in self._watch(reports):
            self.reports.append(report)
            yield report
