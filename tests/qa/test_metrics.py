"""Measures of hand-made answers, the decoding tuned on them, and the reciprocal rank of known answers."""

from __future__ import annotations

import numpy as np
import pytest

from biorel.qa.decoding import Decoding, RankedSpan, SpanCandidates
from biorel.qa.decoding_tuning import DEFAULT_THRESHOLD, best_threshold, tune_decoding
from biorel.qa.metrics import (
    QuestionResult,
    exact_match,
    measure,
    normalise_answer,
    predicted_entities,
    reciprocal_ranks,
    span_concept,
    token_f1,
)
from biorel.records import AnswerSpan, Mention, Question

TEXT = "Lithium caused a coarse tremor and an ulcer."
PLACES = {
    name: (TEXT.index(name), TEXT.index(name) + len(name)) for name in ("coarse tremor", "tremor", "ulcer", "Lithium")
}
MENTIONS = (
    Mention("1", *PLACES["Lithium"], "Lithium", "Chemical", "C1"),
    Mention("1", *PLACES["coarse tremor"], "coarse tremor", "Disease", "D1"),
    Mention("1", *PLACES["ulcer"], "ulcer", "Disease", "D2"),
)


def result(answers=(), predicted=(), ignored=(), asks="tail"):
    """A question with correct spans by name and id, and candidates by name and score."""
    spans = tuple(AnswerSpan(*PLACES[name], name, id_) for name, id_ in answers)
    question = Question("q", "1", "What?", "r", asks, "C1", "Disease", spans, ignored)
    starts, ends = ([PLACES[name][side] for name, _ in predicted] for side in (0, 1))
    sides = np.array([score for _, score in predicted], dtype=float)
    lengths = np.array([len(name.split()) for name, _ in predicted], dtype=int)
    candidates = SpanCandidates(np.array(starts, int), np.array(ends, int), lengths, sides, np.ones(len(predicted)))
    return QuestionResult(question, TEXT, MENTIONS, candidates)


def test_answers_are_compared_as_in_squad():
    assert normalise_answer("The  Coarse-tremor, a") == "coarsetremor"
    assert exact_match("a coarse tremor", ["ulcer", "Coarse tremor."]) == 1
    assert exact_match("tremor", ["coarse tremor"]) == 0
    assert token_f1("tremor", ["ulcer", "coarse tremor"]) == pytest.approx(2 / 3)
    assert token_f1("rash", ["ulcer"]) == token_f1("rash", []) == 0
    assert token_f1("!", ["?"]) == 1


def test_measures_of_three_questions():
    results = [
        result([("coarse tremor", "D1")], [("coarse tremor", 0.9), ("ulcer", 0.2)]),
        result([("coarse tremor", "D1")], [("tremor", 0.6)]),
        result([], [("ulcer", 0.7)]),
        result([("ulcer", "D2")], [("ulcer", 0.3)]),
    ]
    measures = measure(results, Decoding(threshold=0.5, entity_threshold=0.5))
    assert (measures["questions"], measures["answerable"]) == (4, 3)
    assert measures["exact_match"] == pytest.approx(2 / 3)
    assert measures["macro_f1"] == pytest.approx((1 + 2 / 3 + 1) / 3)
    earned = 1 + 2 / 3
    assert measures["located"] == {
        "precision": pytest.approx(earned / 3),
        "recall": pytest.approx(earned / 3),
        "f1": pytest.approx(2 * earned / 6),
    }
    assert (
        measures["answered"]["true_positives"],
        measures["answered"]["predicted"],
        measures["answered"]["gold"],
    ) == (2, 3, 3)
    assert measures["with_no_answer"]["exact_match"] == pytest.approx(1 / 4)
    assert measures["with_no_answer"]["f1"] == pytest.approx(earned / 4)
    overall = measures["entities"]["overall"]
    # predicted: D1, D1 (`tremor` lies within its mention) and the wrong D2; the correct D2 is below the threshold
    assert (overall["true_positives"], overall["predicted"], overall["gold"]) == (2, 3, 3)


def test_undefined_measures_are_none():
    measures = measure([result([], [])], Decoding())
    assert (
        measures["exact_match"]
        is measures["macro_f1"]
        is measures["located"]["f1"]
        is measures["answered"]["f1"]
        is None
    )
    assert measures["with_no_answer"]["exact_match"] == 1
    assert measures["entities"]["overall"]["f1"] is None


def test_entity_measures_by_side_skip_ignored_concepts():
    results = [
        result([("coarse tremor", "D1")], [("coarse tremor", 0.9), ("ulcer", 0.8)], ignored=("D2",)),
        result([("ulcer", "D2")], [("ulcer", 0.8)], asks="head"),
    ]
    measures = measure(results, Decoding())["entities"]
    assert list(measures) == ["overall", "head", "tail"]
    assert measures["tail"]["predicted"] == measures["tail"]["true_positives"] == 1
    assert measures["overall"]["f1"] == 1


def test_a_span_has_the_concept_of_the_mention_that_it_overlaps_most():
    def of(name, type_="Disease"):
        return span_concept(RankedSpan(*PLACES[name], 1.0), MENTIONS, type_)

    assert (of("tremor"), of("coarse tremor"), of("ulcer")) == ("D1", "D1", "D2")
    assert (of("Lithium"), of("Lithium", ""), of("Lithium", "Chemical")) == ("", "C1", "C1")
    assert span_concept(RankedSpan(8, 14, 1.0), MENTIONS, "") == ""


def test_predicted_entities_are_those_of_all_spans():
    assert predicted_entities(result([], [("tremor", 0.9), ("ulcer", 0.8)]), Decoding()) == {"D1", "D2"}


@pytest.mark.parametrize(
    ("scores", "credit", "gold", "expected"),
    [
        ([0.9, 0.8, 0.1], [1, 1, 0], 2, 0.45),
        ([0.9, 0.8, 0.1], [1, 0, 1], 2, 0.05),
        ([0.5, 0.5], [1, 0], 1, 0.25),
        ([0.9], [0], 1, DEFAULT_THRESHOLD),
        ([], [], 3, DEFAULT_THRESHOLD),
        ([0.3], [1], 0, DEFAULT_THRESHOLD),
    ],
)
def test_best_threshold_has_the_highest_f1(scores, credit, gold, expected):
    assert best_threshold(scores, credit, gold) == pytest.approx(expected)


def test_no_threshold_beats_best_threshold_on_random_scores():
    random = np.random.default_rng(0)
    for _ in range(30):
        scores, credit = random.random(12).round(1), random.integers(0, 2, 12)
        gold = int(credit.sum()) + 1

        def f1(threshold, scores=scores, credit=credit, gold=gold):
            predicted = scores >= threshold
            return 2 * credit[predicted].sum() / (predicted.sum() + gold)

        assert f1(best_threshold(scores, credit, gold)) == pytest.approx(
            max(f1(threshold) for threshold in np.linspace(0, 1.05, 106))
        )


def test_tuning_chooses_the_lowest_of_equally_good_limits():
    results = [result([("ulcer", "D2")], [("coarse tremor", 0.9), ("ulcer", 0.4)]), result([], [("tremor", 0.1)])]
    chosen = tune_decoding(results, (1, 2, 3))
    assert (chosen.longest, chosen.rule) == (1, "product")
    assert 0.1 < chosen.threshold <= 0.4
    assert tune_decoding([result([], [])]).threshold == DEFAULT_THRESHOLD


def voting_result(doc_id, entity_id, *predicted, asks="tail"):
    """A document with one-character mentions of D0, D1 and so on; candidates are (number, score)."""
    mentions = tuple(Mention(doc_id, place, place + 1, "x", "Disease", f"D{place}") for place in range(4))
    starts = np.array([place for place, _ in predicted], dtype=int)
    sides = np.array([score for _, score in predicted], dtype=float)
    candidates = SpanCandidates(starts, starts + 1, np.ones(len(predicted), int), sides, np.ones(len(predicted)))
    return QuestionResult(
        Question("q", doc_id, "?", "r", asks, entity_id, "Disease", (), ()), "xxxx", mentions, candidates
    )


def test_reciprocal_rank_is_of_the_vote_over_all_abstracts_of_a_concept():
    results = [
        voting_result("1", "C1", (0, 0.7), (1, 0.2)),
        *(voting_result(str(number), "C1", (1, 0.2)) for number in range(2, 6)),
        voting_result("6", "C2", (2, 0.5), (3, 0.4)),
        voting_result("7", "C3", (2, 0.5)),
        voting_result("8", "C1", (3, 0.9), asks="head"),
    ]
    ranks = reciprocal_ranks(results, Decoding(), {"C1": frozenset({"D1"}), "C2": frozenset({"D3"})}, "tail")
    assert ranks["all"]["questions"] == 2
    assert ranks["several"]["questions"] == 1
    # five times 0.2 exceed 0.7 only in the sum
    assert ranks["several"]["smoothed"] == ranks["several"]["max"] == pytest.approx(0.5)
    assert ranks["several"]["sum"] == pytest.approx(1.0)
    assert ranks["all"]["sum"] == pytest.approx((1.0 + 0.5) / 2)


def test_reciprocal_rank_without_known_answers_is_none():
    ranks = reciprocal_ranks([voting_result("1", "C1", (0, 0.7))], Decoding(), {}, "tail")
    assert ranks["all"] == {"questions": 0, "smoothed": None, "squares": None, "sum": None, "max": None}


def test_a_known_answer_that_no_abstract_has_counts_as_0():
    ranks = reciprocal_ranks([voting_result("1", "C1", (0, 0.7))], Decoding(), {"C1": frozenset({"D9"})}, "tail")
    assert ranks["all"]["smoothed"] == 0
