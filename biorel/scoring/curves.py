"""Precision-recall curves and average precision of each relation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import average_precision_score, precision_recall_curve

from biorel.scoring.pairs import ScoredPair, check, counts, distinct, home_types, probability_matrix


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A point of a relation's curve. The first four fields are the same for all points of a relation.

    Attributes:
        relation: the label.
        pair_type: the type of the ranked pairs; empty for a relation without gold facts.
        positives: number of gold facts, including those of pairs that were not scored.
        average_precision: mean precision over all gold facts; None if there are none.
        threshold: the lowest score of the pairs that count as predicted; None without gold facts.
        precision, recall: the measures of these pairs; None without gold facts.
    """

    relation: str
    pair_type: str
    positives: int
    average_precision: float | None
    threshold: float | None
    precision: float | None
    recall: float | None


def precision_recall(scored: Iterable[ScoredPair], labels: Sequence[str], filtered: bool = True) -> list[CurvePoint]:
    """The curves of all relations, in label order, each from the highest threshold to the lowest.

    The pairs of a relation's pair type are ranked by the probability of the relation, even where another relation is
    more probable. Pairs with equal probability are one point (E-06), so the result does not depend on the order of
    rows, and the average precision of a constant score is the share of positives. A relation without gold facts has
    one row of None. Left out are points on a vertical line between their neighbours, and the point with recall 0 and
    precision 1 that scikit-learn adds, since no threshold gives it.

    Recall and average precision count the gold facts of pairs that were not scored; the curve then ends below 1.
    """
    kept = [one for one in distinct(scored) if counts(one, filtered)]
    check(kept, labels)
    homes = home_types(kept)
    rows: list[CurvePoint] = []
    for number, label in enumerate(labels):
        if label in homes:
            rows += _curve([one for one in kept if one.pair_type == homes[label]], label, number, len(labels))
        else:
            rows.append(CurvePoint(label, "", 0, None, None, None, None))
    return rows


def _curve(pairs: Sequence[ScoredPair], label: str, number: int, relations: int) -> list[CurvePoint]:
    """The points of one relation. The pairs are of one type and include gold facts of the relation."""
    gold = sum(label in one.pair.relations for one in pairs)
    scored = [one for one in pairs if one.is_scored]
    truth = np.array([label in one.pair.relations for one in scored], dtype=bool)  # [P]
    if not truth.any():
        return [CurvePoint(label, pairs[0].pair_type, gold, 0.0, None, None, None)]
    score = probability_matrix(scored, relations)[:, number]
    reach = float(truth.sum()) / gold
    average = float(average_precision_score(truth, score)) * reach
    precision, recall, threshold = precision_recall_curve(truth, score, drop_intermediate=True)
    # scikit-learn returns ascending thresholds, and a last point without a threshold
    points = np.stack([threshold, precision[:-1], recall[:-1] * reach], axis=1)[::-1]  # [points, 3]
    return [CurvePoint(label, pairs[0].pair_type, gold, average, *point) for point in points.tolist()]
