"""Decisions, and thresholds tuned on the development set."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biorel.errors import ModelError
from biorel.records import Pair
from biorel.scoring.metrics import evaluate
from biorel.scoring.pairs import NOT_SCORED, ScoredPair
from biorel.scoring.thresholds import CEILING, FALLBACK, decide, half_of_best, in_label_order, tune


def pair(number: int, probabilities: tuple[float, ...], *relations: str, excluded_because: str = "") -> ScoredPair:
    distance = NOT_SCORED if excluded_because in ("not_mentioned", "too_long") else 3
    return ScoredPair(
        Pair(str(number), "C", "Chemical", "D", "Disease", relations, excluded_because), probabilities, distance
    )


def one_relation(*rows: tuple[float, bool]) -> list[ScoredPair]:
    return [pair(number, (score,), *(["cid"] if gold else [])) for number, (score, gold) in enumerate(rows)]


def test_the_most_probable_relation_is_taken_and_its_threshold_is_enough() -> None:
    assert decide((0.2, 0.5, 0.3), (0.1, 0.5, 0.1)) == 1
    assert decide((0.2, 0.49, 0.3), (0.1, 0.5, 0.1)) is None  # relation 2 is over its threshold, but not first
    assert decide((0.4, 0.4), (0.3, 0.3)) == 0
    assert decide(np.array([0.1, 0.9], dtype=np.float32), (0.5, 0.5)) == 1  # type: ignore[arg-type]


def test_thresholds_are_put_in_label_order() -> None:
    assert in_label_order({"b": 0.2, "a": 0.1, "c": 0.3}, ["a", "b"]) == (0.1, 0.2)
    with pytest.raises(ModelError, match="no threshold for a"):
        in_label_order({"b": 0.2}, ["a", "b"])


def test_the_threshold_lies_midway_between_neighbouring_scores() -> None:
    # cuts: none 0; 0.9: 2/(1+2); 0.7: 2/(2+2); 0.6: 4/(3+2) = 0.8, the best; 0.1: 4/(4+2)
    tuned = tune(one_relation((0.9, True), (0.7, False), (0.6, True), (0.1, False)), ["cid"])
    assert tuned == {"cid": pytest.approx(0.35)}


def test_below_the_lowest_score_the_neighbour_is_0() -> None:
    assert tune(one_relation((0.4, True), (0.8, True)), ["cid"]) == {"cid": pytest.approx(0.2)}


def test_equal_scores_are_never_parted_E06() -> None:
    # without the tie rule a cut after the first 0.5 would give F1 1
    rows = one_relation((0.5, True), (0.5, False), (0.3, False))
    tuned = tune(rows, ["cid"])
    assert tuned == tune(rows[::-1], ["cid"]) == {"cid": pytest.approx(0.4)}
    metrics = evaluate(rows, ["cid"], tuned)
    assert (metrics.micro.true_positives, metrics.micro.predicted) == (1, 2)


def test_adjacent_floating_point_scores_are_parted() -> None:
    upper = 0.3
    lower = float(np.nextafter(upper, 0.0))
    tuned = tune(one_relation((upper, True), (lower, False)), ["cid"])
    assert lower < tuned["cid"] <= upper


def test_a_relation_that_is_better_never_said_gets_a_threshold_above_its_scores() -> None:
    # "a" is right in 10 of 10; "b", at probability 1, in 0 of 2, though it has a gold fact elsewhere
    pairs = [pair(number, (0.9, 0.0), "a") for number in range(10)]
    pairs += [pair(10, (0.0, 1.0)), pair(11, (0.0, 1.0)), pair(12, (0.8, 0.1), "b")]
    tuned = tune(pairs, ["a", "b"])
    assert tuned["b"] == pytest.approx((1 + CEILING) / 2)
    metrics = evaluate(pairs, ["a", "b"], tuned)
    assert metrics.by_relation["b"].predicted == 0
    assert metrics.micro.f1 == pytest.approx(2 * 10 / (10 + 11))


def test_a_relation_without_gold_facts_on_dev_falls_back_E01() -> None:
    pairs = [pair(0, (0.9, 0.0), "a"), pair(1, (0.0, 0.7))]
    assert tune(pairs, ["a", "b"])["b"] == FALLBACK == 0.5
    assert tune([], ["a", "b"]) == {"a": 0.5, "b": 0.5}


def test_what_the_fallback_says_wrongly_weighs_on_the_other_relations() -> None:
    # alone, "a" is best cut below 0.9: 2/(1+2) against 4/(5+2). With ten wrong "b" at the fallback, whose
    # threshold nothing on dev can set, it is best cut below 0.4: 2/(11+2) against 4/(15+2).
    scores = ((0.9, True), (0.5, False), (0.5, False), (0.5, False), (0.4, True))
    mine = [pair(number, (score, 0.0), *(["a"] if gold else [])) for number, (score, gold) in enumerate(scores)]
    wrong = [pair(10 + number, (0.0, 0.6)) for number in range(10)]
    assert tune(mine, ["a", "b"])["a"] == pytest.approx(0.7)
    assert tune(mine + wrong, ["a", "b"])["a"] == pytest.approx(0.2)


def test_a_relation_that_is_never_first_falls_back() -> None:
    assert tune([pair(0, (0.9, 0.1), "b"), pair(1, (0.8, 0.1), "a")], ["a", "b"])["b"] == FALLBACK


def test_held_back_pairs_do_not_move_the_threshold_unless_they_count() -> None:
    rows = one_relation((0.9, True), (0.3, True))
    noise = [
        pair(10 + number, (0.6,), excluded_because=excluded_because)
        for number, excluded_because in enumerate(("unmapped", "inferred", "hypernym"))
    ]
    assert tune(rows + noise, ["cid"]) == tune(rows, ["cid"]) == {"cid": pytest.approx(0.15)}
    many = [pair(20 + number, (0.6,), excluded_because="hypernym") for number in range(9)]
    assert tune(rows + many, ["cid"], filtered=False) == {"cid": pytest.approx(0.75)}


def test_unreachable_facts_stay_in_the_denominator_T05() -> None:
    # with one gold fact the cut below 0.9 is best; with two and 10 unreachable ones the longer list is:
    # 2*1/(1+12) = 0.154 against 2*2/(3+12) = 0.267
    rows = one_relation((0.9, True), (0.5, False), (0.4, True))
    few = tune([*rows[:2], pair(2, (0.4,))], ["cid"])
    assert few == {"cid": pytest.approx(0.7)}
    unreachable = [pair(50 + number, (0.0,), "cid", excluded_because="not_mentioned") for number in range(10)]
    assert tune(rows + unreachable, ["cid"]) == {"cid": pytest.approx(0.2)}


def test_thresholds_come_from_dev_and_are_used_on_test_as_they_are_E03() -> None:
    dev = one_relation((0.4, True), (0.35, True), (0.25, False), (0.1, False))  # apart at 0.3
    test = one_relation((0.8, True), (0.75, True), (0.65, False), (0.2, False))  # apart at 0.7
    tuned = tune(dev, ["cid"])
    assert tuned == {"cid": pytest.approx(0.3)}
    metrics = evaluate(test, ["cid"], tuned)
    assert (metrics.micro.true_positives, metrics.micro.predicted) == (2, 3)
    assert metrics.micro.f1 == pytest.approx(0.8)  # not the 1.0 that 0.7 would give
    flipped = one_relation((0.8, False), (0.75, False), (0.65, True), (0.2, True))
    assert evaluate(flipped, ["cid"], tuned).micro.predicted == 3
    assert tuned == {"cid": pytest.approx(0.3)}


LABELS = ["a", "b", "c"]
GRID = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 0.8, 1.0])
ROW = st.tuples(
    st.tuples(GRID, GRID, GRID),
    st.sets(st.sampled_from(LABELS), max_size=2),
    st.sampled_from(["", "", "", "hypernym", "unmapped", "too_long"]),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(ROW, max_size=12), st.booleans())
@pytest.mark.slow
def test_no_other_set_of_cuts_is_better(rows: list[tuple[tuple[float, ...], set[str], str]], filtered: bool) -> None:
    pairs = [
        pair(
            number,
            scores,
            *(() if excluded_because in ("hypernym", "unmapped") else sorted(gold)),
            excluded_because=excluded_because,
        )
        for number, (scores, gold, excluded_because) in enumerate(rows)
    ]
    tuned = tune(pairs, LABELS, filtered)
    reached = evaluate(pairs, LABELS, tuned, filtered).micro.f1
    cuts = (0.0, 0.05, 0.15, 0.25, 0.4, 0.65, 0.9, 1.005)
    # a relation without gold facts keeps its fallback whatever is best for the others
    supported = evaluate(pairs, LABELS, tuned, filtered).by_relation
    free = [cuts if supported[label].gold else (FALLBACK,) for label in LABELS]
    best = max(
        (
            evaluate(pairs, LABELS, dict(zip(LABELS, choice, strict=True)), filtered).micro.f1 or 0.0
            for choice in itertools.product(*free)
        ),
        default=0.0,
    )
    assert (reached or 0.0) == pytest.approx(best)
    assert tune(pairs[::-1], LABELS, filtered) == tuned


def test_twenty_thousand_pairs_take_less_than_a_second() -> None:
    random = np.random.default_rng(0)
    labels = [f"r{number}" for number in range(14)]
    matrix = random.dirichlet(np.full(14, 0.3), 20_000)
    gold = random.integers(0, 60, 20_000)
    pairs = [
        pair(number, tuple(row), *([labels[gold[number]]] if gold[number] < 14 else []))
        for number, row in enumerate(matrix.tolist())
    ]
    start = time.process_time()
    tune(pairs, labels)
    assert time.process_time() - start < 1.0


def test_the_shared_threshold_is_half_of_the_best_f1() -> None:
    # from the top: 1 of 1 right, 1 of 2, 2 of 3, of 2 facts: F1 2/3, 1/2, 4/5, and with the last one 2/3
    rows = one_relation((0.9, True), (0.7, False), (0.6, True), (0.1, False))
    assert half_of_best(rows, ["cid"]) == {"cid": pytest.approx(0.4)}
    assert half_of_best(rows[::-1], ["cid"]) == half_of_best(rows, ["cid"])


def test_the_shared_threshold_hangs_on_how_high_f1_gets_not_on_where() -> None:
    high = one_relation((0.9, True), (0.8, True), (0.7, False))
    low = one_relation((0.3, True), (0.2, True), (0.1, False))
    assert half_of_best(high, ["cid"]) == half_of_best(low, ["cid"]) == {"cid": 0.5}


def test_facts_that_were_not_scored_lower_the_shared_threshold() -> None:
    scored = one_relation((0.9, True), (0.8, True))
    missed = [pair(number, (0.0,), "cid", excluded_because="not_mentioned") for number in (7, 8)]
    assert half_of_best(scored, ["cid"]) == {"cid": 0.5}
    assert half_of_best([*scored, *missed], ["cid"]) == {"cid": pytest.approx(2 / 6)}


@pytest.mark.parametrize("rows", [[], one_relation((0.9, False)), one_relation((0.9, False), (0.2, False))])
def test_where_nothing_is_right_the_shared_threshold_is_the_fallback(rows: list[ScoredPair]) -> None:
    assert half_of_best(rows, ["cid"]) == {"cid": FALLBACK}


@given(st.lists(st.tuples(st.floats(0.01, 0.99), st.booleans()), min_size=1, max_size=12))
def test_no_single_threshold_reaches_more_than_twice_the_shared_one(rows: list[tuple[float, bool]]) -> None:
    pairs = one_relation(*rows)
    shared = half_of_best(pairs, ["cid"])["cid"]
    reached = [evaluate(pairs, ["cid"], {"cid": score}).micro.f1 or 0.0 for score, _ in rows]
    assert max(reached) == pytest.approx(0.0 if not any(right for _, right in rows) else 2 * shared)
