"""The books of a command: rows in = rows out + drops by reason.

A ledger is passed to whatever reads, filters or writes, so that nothing is lost in silence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Self

EXAMPLES_KEPT = 3
# the one reason that --strict turns into an error
MALFORMED = "malformed row skipped"


class Counts:
    """Counts by reason, with the first few places where each reason occurred."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._examples: dict[str, list[str]] = {}

    @classmethod
    def of(cls, counts: Mapping[str, int], examples: Mapping[str, Sequence[str]]) -> Self:
        """The books that gave these counts and examples."""
        books = cls()
        books._counts.update(counts)
        books._examples.update({reason: list(places) for reason, places in examples.items()})
        return books

    def add(self, reason: str, place: str = "", count: int = 1) -> None:
        """Book `count` rows under `reason`; `place` (file:line, id) is kept as an example."""
        self._counts[reason] += count
        if place:
            examples = self._examples.setdefault(reason, [])
            if len(examples) < EXAMPLES_KEPT:
                examples.append(place)

    def include(self, books: Counts, named: Callable[[str], str] = str) -> None:
        """Book all that other books hold, under what `named` makes of each reason."""
        for reason, count in books._counts.items():
            places = books._examples.get(reason, [])
            for place in places:
                self.add(named(reason), place)
            self.add(named(reason), count=count - len(places))

    def __getitem__(self, reason: str) -> int:
        return self._counts[reason]

    @property
    def by_reason(self) -> Mapping[str, int]:
        """Counts by reason, in alphabetical order."""
        return dict(sorted(self._counts.items()))

    @property
    def examples(self) -> Mapping[str, list[str]]:
        return {reason: list(places) for reason, places in sorted(self._examples.items())}
