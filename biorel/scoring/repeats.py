"""Combining evaluations: mean and deviation over seeds, sums over the folds of a cross-validation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from biorel.scoring.metrics import Metrics, Prf, macro

_COUNTS = ("true_positives", "predicted", "gold")


@dataclass(frozen=True, slots=True)
class Spread:
    """One measure over several runs.

    Attributes:
        mean: the mean over the runs in which the measure is defined; None if there are no such runs.
        deviation: sample standard deviation, with n - 1; None for fewer than two runs.
        values: the value of every run; None where the measure is undefined.
    """

    mean: float | None
    deviation: float | None
    values: tuple[float | None, ...]


def spread(values: Iterable[float | None]) -> Spread:
    """Mean and deviation of one measure over the runs in which it is defined."""
    of_runs = tuple(values)
    known = [value for value in of_runs if value is not None]
    return Spread(fmean(known) if known else None, stdev(known) if len(known) > 1 else None, of_runs)


def summed(folds: Sequence[Mapping[str, Any]]) -> Metrics:
    """The measures over all folds of a cross-validation.

    Every document is in the test set of one fold, so the facts of all folds are summed before dividing.

    Args:
        folds: the result of `Metrics.to_json` for each fold.
    """
    by_relation = _added(fold["by_relation"] for fold in folds)
    by_pair_type = _added(fold["by_pair_type"] for fold in folds)
    return Metrics(
        micro=_added({"micro": fold["micro"]} for fold in folds)["micro"],
        macro=macro(by_relation.values()),
        by_relation=by_relation,
        by_pair_type=dict(sorted(by_pair_type.items())),
        home_types={label: home for fold in folds for label, home in fold["home_types"].items()},
        ignored=_counted(fold["ignored"] for fold in folds),
        not_scored=_counted(fold["not_scored"] for fold in folds),
    )


def _added(tables: Iterable[Mapping[str, Mapping[str, int]]]) -> dict[str, Prf]:
    """The sums for each name, in order of first appearance."""
    totals: dict[str, Counter[str]] = {}
    for table in tables:
        for name, row in table.items():
            total = totals.setdefault(name, Counter())
            for count in _COUNTS:
                total[count] += row[count]
    return {name: Prf.of(*(total[count] for count in _COUNTS)) for name, total in totals.items()}


def _counted(tables: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for table in tables:
        total.update(table)
    return dict(sorted(total.items()))
