"""Several evaluations as one: mean and deviation over seeds, sums of facts over the folds of a cross-validation."""

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
        mean: over the runs where it is defined; None where there is none.
        deviation: that of a sample, with n - 1; None for fewer than two.
        values: of every run, None where it is not defined.
    """

    mean: float | None
    deviation: float | None
    values: tuple[float | None, ...]


def spread(values: Iterable[float | None]) -> Spread:
    """Mean and deviation of one measure; a run where it is not defined has no part in them."""
    told = tuple(values)
    known = [value for value in told if value is not None]
    return Spread(fmean(known) if known else None, stdev(known) if len(known) > 1 else None, told)


def summed(folds: Sequence[Mapping[str, Any]]) -> Metrics:
    """The measures over the facts of all folds, from what `Metrics.to_json` wrote of each.

    Every document is tested on in one fold, so the facts of the folds are added up before anything is divided.
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
    """The facts of each name, in order of first appearance."""
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
