"""Precision, recall and F1, by hand and against scikit-learn."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score, precision_score, recall_score

from biorel.records import Pair
from biorel.scoring.metrics import Prf, evaluate, macro, predict_every_pair
from biorel.scoring.pairs import NOT_SCORED, ScoredPair

HALF = {"a": 0.5, "b": 0.5, "c": 0.5}
LABELS = ["a", "b", "c"]


def pair(
    number: int,
    say: str,
    *gold: str,
    excluded_because: str = "",
    tail_type: str = "Disease",
    labels: list[str] = LABELS,
) -> ScoredPair:
    """A pair of which a model with thresholds of 0.5 says `say`; empty is NULL."""
    probabilities = tuple(0.9 if label == say else 0.1 for label in labels)
    distance = NOT_SCORED if excluded_because in ("not_mentioned", "too_long") else 1
    if distance == NOT_SCORED:
        probabilities = tuple(0.0 for _ in labels)
    return ScoredPair(
        Pair(str(number), "C", "Chemical", "X", tail_type, gold, excluded_because), probabilities, distance
    )


def test_undefined_numbers_are_none_E01() -> None:
    assert Prf.of(0, 0, 0) == Prf(None, None, None, 0, 0, 0)
    assert Prf.of(0, 3, 0) == Prf(0.0, None, None, 0, 3, 0)
    assert Prf.of(0, 0, 3) == Prf(None, 0.0, 0.0, 0, 0, 3)
    assert Prf.of(1, 2, 4) == Prf(0.5, 0.25, pytest.approx(1 / 3), 1, 2, 4)


SMALL = [
    pair(0, "a", "a"),
    pair(1, "a"),
    pair(2, "", "a"),
    pair(3, "b", "b", "a"),  # one relation is said of a pair that has two: the other is missed
    pair(4, "b", "a", tail_type="Gene"),
    pair(5, ""),
]


def test_facts_are_counted_by_hand() -> None:
    # gold: a in 0, 2, 3, 4; b in 3. said: a in 0 (right), 1; b in 3 (right), 4
    metrics = evaluate(SMALL, LABELS, HALF)
    assert metrics.micro == Prf(0.5, 0.4, pytest.approx(4 / 9), 2, 4, 5)
    assert metrics.by_relation["a"] == Prf(0.5, 0.25, pytest.approx(1 / 3), 1, 2, 4)
    assert metrics.by_relation["b"] == Prf(0.5, 1.0, pytest.approx(2 / 3), 1, 2, 1)
    assert metrics.by_pair_type == {
        "chemical_disease": Prf(pytest.approx(2 / 3), 0.5, pytest.approx(4 / 7), 2, 3, 4),
        "chemical_gene": Prf(0.0, 0.0, 0.0, 0, 1, 1),
    }
    assert metrics.home_types == {"a": "chemical_disease", "b": "chemical_disease"}


def test_a_relation_absent_from_gold_is_null_and_outside_the_macro_E01() -> None:
    metrics = evaluate([*SMALL, pair(6, "c")], LABELS, HALF)
    assert metrics.by_relation["c"] == Prf(0.0, None, None, 0, 1, 0)
    assert metrics.macro == Prf(0.5, 0.625, pytest.approx(0.5), 2, 4, 5)
    text = json.dumps(metrics.to_json(), allow_nan=False)
    assert json.loads(text)["by_relation"]["c"] == {
        "precision": 0.0, "recall": None, "f1": None, "true_positives": 0, "predicted": 1, "gold": 0
    }  # fmt: skip


def test_no_gold_facts_at_all_give_no_f1_to_select_by_E01() -> None:
    for pairs in ([], [pair(0, "a"), pair(1, "")]):
        metrics = evaluate(pairs, LABELS, HALF)
        assert metrics.micro.f1 is None
        assert metrics.macro == Prf(None, None, None, 0, 0, 0)
        assert metrics.f1_of_means is None
        json.dumps(metrics.to_json(), allow_nan=False)


def test_macro_leaves_out_a_precision_that_nobody_earned() -> None:
    # never predicted: its precision is undefined, its recall and F1 are 0
    assert macro([Prf.of(1, 2, 2), Prf.of(0, 0, 2), Prf.of(0, 5, 0)]) == Prf(0.5, 0.25, 0.25, 1, 2, 4)


def test_the_macro_f1_of_table_7_is_that_of_the_means() -> None:
    """Table 7: macro P 34.0, R 29.8, F1 31.7, though its column of F1 has a mean of 29.6."""
    metrics = evaluate(SMALL, LABELS, HALF)
    assert metrics.f1_of_means == pytest.approx(2 * 0.5 * 0.625 / 1.125)
    assert metrics.to_json()["macro"]["f1_of_means"] == metrics.f1_of_means
    of_the_means = 2 * 34.0 * 29.8 / (34.0 + 29.8)
    assert of_the_means == pytest.approx(31.7, abs=0.07)
    assert evaluate([pair(0, "a"), pair(1, "", "a")], LABELS, HALF).f1_of_means == 0.0


def test_null_is_no_class_E05() -> None:
    pairs = [pair(number, "", *(["a"] if number < 2 else [])) for number in range(100)]
    metrics = evaluate(pairs, LABELS, HALF)
    assert metrics.micro == Prf(None, 0.0, 0.0, 0, 0, 2)
    assert set(metrics.by_relation) == set(LABELS)


def test_repeated_rows_count_once_E04() -> None:
    assert evaluate(SMALL * 3, LABELS, HALF) == evaluate(SMALL, LABELS, HALF)
    twice = ScoredPair(Pair("9", "C", "Chemical", "X", "Disease", ("a", "a")), (0.9, 0.1, 0.1), 1)
    assert evaluate([twice], LABELS, HALF).micro == Prf(1.0, 1.0, 1.0, 1, 1, 1)


def test_recall_divides_by_facts_that_could_not_be_scored_T05() -> None:
    lost = [pair(10, "", "a", excluded_because="not_mentioned"), pair(11, "", "a", "b", excluded_because="too_long")]
    # a threshold of 0 must not turn "not scored" into a prediction
    for thresholds in (HALF, dict.fromkeys(LABELS, 0.0)):
        metrics = evaluate([pair(0, "a", "a"), *lost], LABELS, thresholds)
        assert metrics.micro == Prf(1.0, 0.25, 0.4, 1, 1, 4)
        assert metrics.not_scored == {"not_mentioned": 1, "too_long": 2}


def test_a_prediction_on_a_pair_that_is_neither_is_counted_apart() -> None:
    neither = [
        pair(10, "a", excluded_because="unmapped"),
        pair(11, "b", excluded_because="unmapped"),
        pair(12, "", excluded_because="inferred"),
    ]
    metrics = evaluate([*SMALL, *neither], LABELS, HALF)
    assert metrics.micro == evaluate(SMALL, LABELS, HALF).micro
    assert metrics.ignored == {"inferred": 0, "unmapped": 2}


def test_hypernyms_are_left_out_with_the_filter_and_wrong_without_it() -> None:
    above = [pair(10, "a", excluded_because="hypernym"), pair(11, "", excluded_because="hypernym")]
    assert evaluate([*SMALL, *above], LABELS, HALF, filtered=True).micro == Prf.of(2, 4, 5)
    assert evaluate([*SMALL, *above], LABELS, HALF, filtered=True).ignored == {"hypernym": 1}
    assert evaluate([*SMALL, *above], LABELS, HALF, filtered=False).micro == Prf.of(2, 5, 5)


def test_every_pair_positive_is_the_baseline_of_one_relation() -> None:
    pairs = [pair(number, "", *(["cid"] if number < 2 else []), labels=["cid"]) for number in range(8)]
    pairs += [
        pair(8, "", "cid", excluded_because="not_mentioned", labels=["cid"]),
        pair(9, "", excluded_because="hypernym", labels=["cid"]),
    ]
    assert predict_every_pair(pairs, ["cid"]).micro == Prf(0.25, pytest.approx(2 / 3), pytest.approx(4 / 11), 2, 8, 3)
    assert predict_every_pair(pairs, ["cid"], filtered=False).micro.predicted == 9
    assert predict_every_pair([], ["cid"]).micro == Prf.of(0, 0, 0)


def test_the_baseline_says_the_most_frequent_relation_of_each_pair_type() -> None:
    pairs = [pair(0, "", "a"), pair(1, "", "a"), pair(2, "", "b"), pair(3, "")]
    pairs += [pair(4, "", "b", tail_type="Gene"), pair(5, "", tail_type="Gene"), pair(6, "", tail_type="Other")]
    metrics = predict_every_pair(pairs, LABELS)
    assert metrics.by_relation["a"] == Prf.of(2, 5, 2)  # four diseases, and the type without gold facts
    assert metrics.by_relation["b"] == Prf.of(1, 2, 2)


SAYS = st.sampled_from(["", *LABELS])


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(SAYS, SAYS), min_size=1, max_size=30))
def test_micro_and_relations_equal_those_of_scikit_learn(rows: list[tuple[str, str]]) -> None:
    pairs = [pair(number, say, *([gold] if gold else [])) for number, (say, gold) in enumerate(rows)]
    said, gold = zip(*rows, strict=True)
    metrics = evaluate(pairs, LABELS, HALF)
    options = {"labels": LABELS, "zero_division": 0.0}
    assert (metrics.micro.f1 or 0.0) == pytest.approx(f1_score(gold, said, average="micro", **options))
    assert (metrics.micro.precision or 0.0) == pytest.approx(precision_score(gold, said, average="micro", **options))
    assert (metrics.micro.recall or 0.0) == pytest.approx(recall_score(gold, said, average="micro", **options))
    by_relation = f1_score(gold, said, average=None, **options)
    assert [metrics.by_relation[label].f1 or 0.0 for label in LABELS] == pytest.approx(list(by_relation))
    supported = [score for label, score in zip(LABELS, by_relation, strict=True) if label in gold]
    assert metrics.macro.f1 == (pytest.approx(sum(supported) / len(supported)) if supported else None)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(SAYS, st.sets(st.sampled_from(LABELS)), st.sampled_from(["", "too_long"])), max_size=20))
def test_numbers_stay_in_range_and_parts_add_up(rows: list[tuple[str, set[str], str]]) -> None:
    pairs = [
        pair(number, say, *sorted(gold), excluded_because=excluded_because, tail_type=("Disease", "Gene")[number % 2])
        for number, (say, gold, excluded_because) in enumerate(rows)
    ]
    metrics = evaluate(pairs, LABELS, HALF)
    for parts in (metrics.by_relation, metrics.by_pair_type):
        assert sum(part.true_positives for part in parts.values()) == metrics.micro.true_positives
        assert sum(part.predicted for part in parts.values()) == metrics.micro.predicted
        assert sum(part.gold for part in parts.values()) == metrics.micro.gold
    for prf in (metrics.micro, metrics.macro, *metrics.by_relation.values()):
        assert all(number is None or 0 <= number <= 1 for number in (prf.precision, prf.recall, prf.f1))
