"""Precision-recall curves and average precision, one per relation, from the probabilities alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import average_precision_score, precision_recall_curve

from biorel.scoring.pairs import ScoredPair, check, counts, distinct, home_types, probability_matrix


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A point of a relation's curve; the relation's own numbers stand in each of its rows.

    Attributes:
        relation: the label.
        pair_type: the type of the pairs that are ranked; empty for a relation without gold facts.
        positives: gold facts, those that no prediction could reach included.
        average_precision: the mean precision over all gold facts; None without any.
        threshold, precision, recall: of all pairs that score at least the threshold; None without gold facts.
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

    For a relation the pairs of its pair type are ranked by its probability, whether or not it is the most
    probable one. Pairs with equal probability are one point (E-06), so the order of rows tells nothing and a
    constant score has the share of positives as its average precision. A relation without gold facts has one
    row of None. Points that lie on a straight vertical line between their neighbours are left out, and
    so is the point of recall 0 and precision 1 that scikit-learn adds, as no threshold gives it.

    Gold facts of pairs that were not scored divide recall and average precision: the curve then ends
    short of 1.
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
    """The points of one relation that has gold facts among these pairs, all of one type."""
    gold = sum(label in one.pair.relations for one in pairs)
    able = [one for one in pairs if one.is_scored]
    truth = np.array([label in one.pair.relations for one in able], dtype=bool)  # [P]
    if not truth.any():
        return [CurvePoint(label, pairs[0].pair_type, gold, 0.0, None, None, None)]
    score = probability_matrix(able, relations)[:, number]
    reach = float(truth.sum()) / gold
    average = float(average_precision_score(truth, score)) * reach
    precision, recall, threshold = precision_recall_curve(truth, score, drop_intermediate=True)
    # scikit-learn goes from the lowest threshold up; its last point has no threshold
    points = np.stack([threshold, precision[:-1], recall[:-1] * reach], axis=1)[::-1]  # [points, 3]
    return [CurvePoint(label, pairs[0].pair_type, gold, average, *point) for point in points.tolist()]
