"""Counts of the rows that a command reads, keeps, repairs and excludes.

Functions that read, filter or write rows add their counts to a `Counts` object. For each kind of row, the number of
rows read must equal the rows kept plus the rows excluded; `Counts.check_balance` raises an error otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Self

from biorel.errors import InputError
from biorel.reasons import Outcome, Reason, Rows

__all__ = ["Counts", "Outcome", "Reason", "Rows", "UnbalancedCountsError"]

EXAMPLES_KEPT = 3

# A later stage reads what an earlier one kept.
_READS_WHAT_WAS_KEPT = {Rows.DOCUMENTS: Reason.DOCUMENTS_READ, Rows.OUTPUT_DOCUMENTS: Reason.DOCUMENTS_KEPT}


class UnbalancedCountsError(Exception):
    """Rows were lost or counted twice. The fault is in biorel, not in the input."""


class Counts:
    """Counts by reason, with the first few places where each reason occurred."""

    def __init__(self) -> None:
        self._counts: Counter[Reason] = Counter()
        self._examples: dict[Reason, list[str]] = {}
        self._labelled: dict[str, Counts] = {}

    @classmethod
    def of(cls, counts: Mapping[str, int], examples: Mapping[str, Sequence[str]]) -> Self:
        """Restore counts and examples from a manifest.

        Raises:
            InputError: another version of biorel wrote the manifest.
        """
        restored = cls()
        by_phrase = {str(reason): reason for reason in Reason}
        try:
            restored._counts.update({by_phrase[phrase]: count for phrase, count in counts.items()})
            restored._examples.update({by_phrase[phrase]: list(places) for phrase, places in examples.items()})
        except KeyError as error:
            raise InputError(
                f"the unfinished work was begun by another version of biorel (unknown count {error})",
                "remove the .partial folder and start again",
            ) from error
        return restored

    def add(self, reason: Reason, place: str = "", count: int = 1) -> None:
        """Add `count` rows to the count of `reason`; `place` (file:line or id) is kept as an example."""
        self._counts[reason] += count
        if place:
            examples = self._examples.setdefault(reason, [])
            if len(examples) < EXAMPLES_KEPT:
                examples.append(place)

    def include(self, other: Counts, label: str = "") -> None:
        """Add the counts of `other`. With a label, these counts stay separate and are shown as `label: reason`."""
        target = self._labelled.setdefault(label, Counts()) if label else self
        for reason, count in other._counts.items():
            places = other._examples.get(reason, [])
            for place in places:
                target.add(reason, place)
            target.add(reason, count=count - len(places))

    def __getitem__(self, reason: Reason) -> int:
        return self._counts[reason]

    def everywhere(self, reason: Reason) -> tuple[int, list[str]]:
        """The count and the examples of a reason, including the labelled counts that were added."""
        parts = [self, *self._labelled.values()]
        examples = [place for part in parts for place in part._examples.get(reason, [])]
        return sum(part._counts[reason] for part in parts), examples[:EXAMPLES_KEPT]

    @property
    def by_reason(self) -> Mapping[str, int]:
        """Counts by reason, in alphabetical order."""
        return dict(sorted(self._by_phrase().items()))

    @property
    def examples(self) -> Mapping[str, list[str]]:
        """Examples of places by reason, in alphabetical order."""
        examples = {str(reason): list(places) for reason, places in self._examples.items()}
        for label, labelled in self._labelled.items():
            examples |= {f"{label}: {phrase}": places for phrase, places in labelled.examples.items()}
        return dict(sorted(examples.items()))

    def _by_phrase(self) -> dict[str, int]:
        counts = {str(reason): count for reason, count in self._counts.items()}
        for label, labelled in self._labelled.items():
            counts |= {f"{label}: {phrase}": count for phrase, count in labelled._by_phrase().items()}
        return counts

    def check_balance(self) -> None:
        """Check that rows read + rows added = rows kept + rows excluded, for each kind of row whose reading is counted.

        Raises:
            UnbalancedCountsError: the two sums differ.
        """
        for rows in Rows:
            came, kept, excluded = self._totals(rows)
            inflow = _READS_WHAT_WAS_KEPT.get(rows)
            # a command that writes no documents counts only the documents read
            counted = came and (kept or excluded) if inflow else came or (kept and _IS_READ[rows])
            if counted and came != kept + excluded:
                raise UnbalancedCountsError(
                    f"the counts do not add up for {rows.value}: {came} read, but {kept} kept and {excluded} excluded"
                )
        for labelled in self._labelled.values():
            labelled.check_balance()

    def _totals(self, rows: Rows) -> tuple[int, int, int]:
        """The numbers of rows of a kind: (read and added, kept, excluded)."""
        by_outcome: Counter[Outcome] = Counter()
        for reason, count in self._counts.items():
            if reason.rows is rows:
                by_outcome[reason.outcome] += count
        came = by_outcome[Outcome.READ] + by_outcome[Outcome.ADDED]
        if rows in _READS_WHAT_WAS_KEPT:
            came += self._counts[_READS_WHAT_WAS_KEPT[rows]]
        return came, by_outcome[Outcome.KEPT], by_outcome[Outcome.EXCLUDED]


# whether reading is counted for a kind of row
_IS_READ = {rows: any(reason.rows is rows and reason.outcome is Outcome.READ for reason in Reason) for rows in Rows}
