"""Scores grouped by the distance between the two entities (Figure 2 of the BRAN paper)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from biorel.scoring.metrics import Prf, evaluate
from biorel.scoring.pairs import ScoredPair, counts, distinct

CUTOFFS = (11, 25, 50, 100, 500)
ALL_TYPES = "all"


@dataclass(frozen=True, slots=True)
class DistanceRow:
    """Measures on the pairs whose closest mentions are at most `cutoff` tokens apart.

    `pair_type` is `ALL_TYPES` for the row over all types; `pairs` counts all pairs, including NULL ones.
    """

    cutoff: int
    pair_type: str
    precision: float | None
    recall: float | None
    f1: float | None
    true_positives: int
    predicted: int
    gold: int
    pairs: int


def by_distance(
    scored: Iterable[ScoredPair],
    labels: Sequence[str],
    thresholds: Mapping[str, float],
    filtered: bool = True,
    cutoffs: Sequence[int] = CUTOFFS,
) -> list[DistanceRow]:
    """One row for each cutoff and pair type, in the order of `cutoffs`, the row over all types first.

    "Removing all entity pair candidates (positive and negative) whose closest mentions are more than 11
    tokens apart" (section 3.3.2): removed pairs do not count for recall either. A fact whose pair was not scored has
    no distance and is in no row, so the widest cutoff may differ from the overall result.
    """
    pairs = [one for one in distinct(scored) if one.is_scored]
    rows: list[DistanceRow] = []
    for cutoff in cutoffs:
        near = [one for one in pairs if one.distance <= cutoff]
        metrics = evaluate(near, labels, thresholds, filtered)
        sizes = Counter(one.pair_type for one in near if counts(one, filtered))
        rows.append(DistanceRow(cutoff, ALL_TYPES, **asdict(metrics.micro), pairs=sizes.total()))
        rows += [
            DistanceRow(
                cutoff,
                pair_type,
                **asdict(metrics.by_pair_type.get(pair_type, Prf.of(0, 0, 0))),
                pairs=sizes[pair_type],
            )
            for pair_type in sorted({one.pair_type for one in pairs})
        ]
    return rows
