"""Means over seeds and sums over folds, by hand."""

from __future__ import annotations

import random

import pytest

from biorel.records import Pair
from biorel.scoring.metrics import Prf, evaluate
from biorel.scoring.pairs import NOT_SCORED, ScoredPair
from biorel.scoring.repeats import spread, summed

LABELS = ("disease:causes", "disease:treats", "gene:binds", "gene:never")


def drawn_pair(number: int, rng: random.Random) -> ScoredPair:
    """A pair of one of 30 documents, by chance: what it holds, what is said of it, why it is held back."""
    tail_type, fitting = rng.choice([("Disease", LABELS[:2]), ("Gene", LABELS[2:3])])
    gold = tuple(label for label in fitting if rng.random() < 0.4)
    excluded_because = rng.choice(["", "", "", "hypernym", "unmapped", "too_long"])
    distance = NOT_SCORED if excluded_because == "too_long" else 3
    says = tuple(rng.random() if label in fitting and distance > 0 else 0.0 for label in LABELS)
    return ScoredPair(
        Pair(str(number % 30), f"C{number}", "Chemical", "X", tail_type, gold, excluded_because), says, distance
    )


def test_the_deviation_is_that_of_a_sample():
    one = spread([1.0, 2.0, 6.0])
    assert one.mean == pytest.approx(3.0)
    assert one.deviation == pytest.approx(7**0.5)  # (4 + 1 + 9) / 2
    assert one.values == (1.0, 2.0, 6.0)


def test_a_run_without_the_measure_has_no_part_in_it():
    assert (spread([None, 0.5]).mean, spread([None, 0.5]).deviation) == (0.5, None)
    assert (spread([None]).mean, spread([None]).deviation, spread([]).mean) == (None, None, None)


def test_facts_are_added_up_before_anything_is_divided():
    def fold(right: int, predicted: int, gold: int) -> dict[str, object]:
        row = {"true_positives": right, "predicted": predicted, "gold": gold}
        return {
            "micro": row,
            "by_relation": {"cid": row},
            "by_pair_type": {"chemical_disease": row},
            "home_types": {"cid": "chemical_disease"},
            "ignored": {"hypernym": 1},
            "not_scored": {},
        }

    metrics = summed([fold(1, 1, 10), fold(9, 30, 10)])
    assert metrics.micro == Prf(10 / 31, 0.5, 20 / 51, 10, 31, 20)  # not the mean of 1.0 and 0.3
    assert metrics.ignored == {"hypernym": 2}
    assert metrics.home_types == {"cid": "chemical_disease"}


def test_folds_of_documents_sum_to_the_measures_of_all():
    rng = random.Random(0)
    pairs = [drawn_pair(number, rng) for number in range(400)]
    folds = [[one for one in pairs if int(one.pair.doc_id) % 3 == fold] for fold in range(3)]
    thresholds = dict.fromkeys(LABELS, 0.6)
    for filtered in (True, False):
        whole = evaluate(pairs, LABELS, thresholds, filtered)
        assert whole.micro.true_positives > 20
        assert summed([evaluate(fold, LABELS, thresholds, filtered).to_json() for fold in folds]) == whole
