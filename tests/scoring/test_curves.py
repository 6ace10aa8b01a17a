"""Precision-recall curves and average precision."""

from __future__ import annotations

from dataclasses import asdict

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biorel.records import Pair
from biorel.scoring.curves import CurvePoint, precision_recall
from biorel.scoring.pairs import NOT_SCORED, ScoredPair


def pair(
    number: int, score: float, gold: bool, *, tail_type: str = "Disease", excluded_because: str = ""
) -> ScoredPair:
    distance = NOT_SCORED if excluded_because == "not_mentioned" else 1
    relations = ("r",) if gold else ()
    return ScoredPair(
        Pair(str(number), "C", "Chemical", "X", tail_type, relations, excluded_because), (score, 0.0), distance
    )


LABELS = ["r", "absent"]


def curve(pairs: list[ScoredPair]) -> list[CurvePoint]:
    return [point for point in precision_recall(pairs, LABELS) if point.relation == "r"]


def test_a_curve_by_hand() -> None:
    # ranked: 0.9 right, 0.8 wrong, 0.7 right, 0.1 wrong. AP = 1/2 * 1 + 1/2 * 2/3
    points = curve([pair(0, 0.9, True), pair(1, 0.8, False), pair(2, 0.7, True), pair(3, 0.1, False)])
    assert [(point.threshold, point.precision, point.recall) for point in points] == [
        (0.9, 1.0, 0.5),
        (0.8, 0.5, 0.5),
        (0.7, pytest.approx(2 / 3), 1.0),
        (0.1, 0.5, 1.0),
    ]
    assert {(point.pair_type, point.positives) for point in points} == {("chemical_disease", 2)}
    assert points[0].average_precision == pytest.approx(5 / 6)


def test_equal_scores_are_one_point_whatever_the_order_of_rows_E06() -> None:
    pairs = [pair(number, 0.5, number == 0) for number in range(4)]
    for rows in (pairs, pairs[::-1]):
        assert curve(rows) == [CurvePoint("r", "chemical_disease", 1, 0.25, 0.5, 0.25, 1.0)]


def test_a_relation_without_positives_is_null_E01() -> None:
    points = precision_recall([pair(0, 0.9, True), pair(1, 0.2, False)], LABELS)
    assert points[-1] == CurvePoint("absent", "", 0, None, None, None, None)
    assert precision_recall([], LABELS)[0] == CurvePoint("r", "", 0, None, None, None, None)


def test_facts_that_could_not_be_scored_lower_recall_T05() -> None:
    points = curve([pair(0, 0.9, True), pair(1, 0.2, False), pair(2, 0.0, True, excluded_because="not_mentioned")])
    assert max(point.recall or 0.0 for point in points) == 0.5
    assert points[0].average_precision == 0.5
    assert points[0].positives == 2
    assert curve([pair(2, 0.0, True, excluded_because="not_mentioned")]) == [
        CurvePoint("r", "chemical_disease", 1, 0.0, None, None, None)
    ]


def test_only_pairs_of_the_relations_own_type_are_ranked() -> None:
    mine = [pair(0, 0.5, True), pair(1, 0.5, False)]
    others = [pair(10 + number, 0.9, False, tail_type="Gene") for number in range(5)]
    held_back = [pair(20, 0.9, False, excluded_because="unmapped"), pair(21, 0.9, False, excluded_because="hypernym")]
    assert curve(mine + others + held_back) == curve(mine)
    assert len(precision_recall(mine + held_back, LABELS, filtered=False)) == 3


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([0.1, 0.4, 0.4001, 0.7, 1.0]), st.booleans()), min_size=1, max_size=15))
def test_average_precision_is_the_area_of_steps_over_distinct_scores(rows: list[tuple[float, bool]]) -> None:
    positives = sum(gold for _, gold in rows)
    points = curve([pair(number, score, gold) for number, (score, gold) in enumerate(rows)])
    if not positives:
        assert points[0].average_precision is None
        return
    area, before = 0.0, 0.0
    for threshold in sorted({score for score, _ in rows}, reverse=True):
        said = [gold for score, gold in rows if score >= threshold]
        recall = sum(said) / positives
        area += (recall - before) * sum(said) / len(said)
        before = recall
    assert points[0].average_precision == pytest.approx(area)


def test_rows_make_a_table() -> None:
    frame = pd.DataFrame(map(asdict, precision_recall([pair(0, 0.9, True), pair(1, 0.2, False)], LABELS)))
    assert list(frame.columns) == [
        "relation", "pair_type", "positives", "average_precision", "threshold", "precision", "recall"
    ]  # fmt: skip
    assert frame["average_precision"].isna().tolist() == [False, False, True]
