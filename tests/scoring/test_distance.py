"""Figure 2: measures on near pairs only."""

from __future__ import annotations

from biorel.records import Pair
from biorel.scoring.distance import ALL_TYPES, CUTOFFS, DistanceRow, by_distance
from biorel.scoring.pairs import NOT_SCORED, ScoredPair


def pair(
    number: int, distance: int, score: float, gold: bool, tail_type: str = "Disease", excluded_because: str = ""
) -> ScoredPair:
    relations = ("r",) if gold else ()
    return ScoredPair(
        Pair(str(number), "C", "Chemical", "X", tail_type, relations, excluded_because), (score,), distance
    )


PAIRS = [
    pair(0, 0, 0.9, True),
    pair(1, 11, 0.9, False),
    pair(2, 12, 0.1, True),
    pair(3, 26, 0.9, True),
    pair(4, 600, 0.1, True),
    pair(5, 30, 0.9, True, "Gene"),
    pair(6, NOT_SCORED, 0.0, True, excluded_because="not_mentioned"),
    pair(7, 5, 0.9, False, excluded_because="hypernym"),
    pair(8, 5, 0.9, False, excluded_because="unmapped"),
]


def test_the_cutoffs_are_those_of_figure_2() -> None:
    assert CUTOFFS == (11, 25, 50, 100, 500)


def test_positives_and_negatives_beyond_the_cutoff_are_removed() -> None:
    rows = {(row.cutoff, row.pair_type): row for row in by_distance(PAIRS, ["r"], {"r": 0.5})}
    assert len(rows) == 5 * 3
    # at most 11: pairs 0 (right) and 1 (wrong); the hypernym is left out
    assert rows[11, ALL_TYPES] == DistanceRow(11, "all", 0.5, 1.0, 2 / 3, 1, 2, 1, 2)
    assert rows[11, "chemical_disease"].f1 == 2 / 3
    # pair 2, missed, comes in at 25
    assert rows[25, ALL_TYPES] == DistanceRow(25, "all", 0.5, 0.5, 0.5, 1, 2, 2, 3)
    # pairs 3 and 5, right, at 50; nothing more up to 500, where the pair at 600 is still out
    assert rows[50, ALL_TYPES] == DistanceRow(50, "all", 0.75, 0.75, 0.75, 3, 4, 4, 5)
    assert rows[500, "chemical_disease"] == DistanceRow(500, "chemical_disease", 2 / 3, 2 / 3, 2 / 3, 2, 3, 3, 4)


def test_a_pair_type_without_near_pairs_has_a_row_of_nothing() -> None:
    rows = {(row.cutoff, row.pair_type): row for row in by_distance(PAIRS, ["r"], {"r": 0.5})}
    assert rows[11, "chemical_gene"] == DistanceRow(11, "chemical_gene", None, None, None, 0, 0, 0, 0)


def test_without_the_filter_a_near_hypernym_is_wrong() -> None:
    row = by_distance(PAIRS, ["r"], {"r": 0.5}, filtered=False, cutoffs=[11])[0]
    assert (row.true_positives, row.predicted, row.pairs) == (1, 3, 3)


def test_no_pairs_give_rows_of_nothing() -> None:
    assert [row.f1 for row in by_distance([], ["r"], {"r": 0.5})] == [None] * 5
