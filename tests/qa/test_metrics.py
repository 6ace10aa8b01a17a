"""Measures of answers by hand-made findings, and the choices that are tuned on them."""

from __future__ import annotations

import numpy as np
import pytest

from biorel.qa.decoding import Candidates, Decoding, Ranked
from biorel.qa.decoding_choices import FALLBACK, cut, tune
from biorel.qa.metrics import Judged, concept, entities, exact_match, measure, normalised, token_f1
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


def judged(answers=(), found=(), ignored=(), asks="tail"):
    """A question with right spans by name and id, and findings by name and score."""
    spans = tuple(AnswerSpan(*PLACES[name], name, id_) for name, id_ in answers)
    question = Question("q", "1", "What?", "r", asks, "C1", "Disease", spans, ignored)
    starts, ends = ([PLACES[name][side] for name, _ in found] for side in (0, 1))
    sides = np.array([score for _, score in found], dtype=float)
    lengths = np.array([len(name.split()) for name, _ in found], dtype=int)
    candidates = Candidates(np.array(starts, int), np.array(ends, int), lengths, sides, np.ones(len(found)))
    return Judged(question, TEXT, MENTIONS, candidates)


def test_texts_are_compared_as_squad_does():
    assert normalised("The  Coarse-tremor, a") == "coarsetremor"
    assert exact_match("a coarse tremor", ["ulcer", "Coarse tremor."]) == 1
    assert exact_match("tremor", ["coarse tremor"]) == 0
    assert token_f1("tremor", ["ulcer", "coarse tremor"]) == pytest.approx(2 / 3)
    assert token_f1("rash", ["ulcer"]) == token_f1("rash", []) == 0
    assert token_f1("!", ["?"]) == 1


def test_measures_of_three_questions():
    asked = [
        judged([("coarse tremor", "D1")], [("coarse tremor", 0.9), ("ulcer", 0.2)]),
        judged([("coarse tremor", "D1")], [("tremor", 0.6)]),
        judged([], [("ulcer", 0.7)]),
        judged([("ulcer", "D2")], [("ulcer", 0.3)]),
    ]
    told = measure(asked, Decoding(threshold=0.5, entity_threshold=0.5))
    assert (told["questions"], told["answerable"]) == (4, 3)
    assert told["exact_match"] == pytest.approx(2 / 3)
    assert told["macro_f1"] == pytest.approx((1 + 2 / 3 + 1) / 3)
    earned = 1 + 2 / 3
    assert told["located"] == {
        "precision": pytest.approx(earned / 3),
        "recall": pytest.approx(earned / 3),
        "f1": pytest.approx(2 * earned / 6),
    }
    assert (told["answered"]["true_positives"], told["answered"]["predicted"], told["answered"]["gold"]) == (2, 3, 3)
    assert told["with_no_answer"]["exact_match"] == pytest.approx(1 / 4)
    assert told["with_no_answer"]["f1"] == pytest.approx(earned / 4)
    overall = told["entities"]["overall"]
    # told: D1, D1 (`tremor` lies in its mention) and the wrong D2; the right D2 is below the threshold
    assert (overall["true_positives"], overall["predicted"], overall["gold"]) == (2, 3, 3)


def test_nothing_to_measure_is_none_and_not_0():
    told = measure([judged([], [])], Decoding())
    assert told["exact_match"] is told["macro_f1"] is told["located"]["f1"] is told["answered"]["f1"] is None
    assert told["with_no_answer"]["exact_match"] == 1
    assert told["entities"]["overall"]["f1"] is None


def test_entities_are_by_side_and_without_what_is_held_back():
    asked = [
        judged([("coarse tremor", "D1")], [("coarse tremor", 0.9), ("ulcer", 0.8)], ignored=("D2",)),
        judged([("ulcer", "D2")], [("ulcer", 0.8)], asks="head"),
    ]
    told = measure(asked, Decoding())["entities"]
    assert list(told) == ["overall", "head", "tail"]
    assert told["tail"]["predicted"] == told["tail"]["true_positives"] == 1
    assert told["overall"]["f1"] == 1


def test_a_span_means_the_mention_that_it_overlaps_most():
    def of(name, type_="Disease"):
        return concept(Ranked(*PLACES[name], 1.0), MENTIONS, type_)

    assert (of("tremor"), of("coarse tremor"), of("ulcer")) == ("D1", "D1", "D2")
    assert (of("Lithium"), of("Lithium", ""), of("Lithium", "Chemical")) == ("", "C1", "C1")
    assert concept(Ranked(8, 14, 1.0), MENTIONS, "") == ""


def test_one_entity_told_by_two_spans_is_one():
    assert entities(judged([], [("tremor", 0.9), ("ulcer", 0.8)]), Decoding()) == {"D1", "D2"}


@pytest.mark.parametrize(
    ("scored", "earned", "gold", "expected"),
    [
        ([0.9, 0.8, 0.1], [1, 1, 0], 2, 0.45),
        ([0.9, 0.8, 0.1], [1, 0, 1], 2, 0.05),
        ([0.5, 0.5], [1, 0], 1, 0.25),
        ([0.9], [0], 1, FALLBACK),
        ([], [], 3, FALLBACK),
        ([0.3], [1], 0, FALLBACK),
    ],
)
def test_a_threshold_has_the_highest_f1(scored, earned, gold, expected):
    assert cut(scored, earned, gold) == pytest.approx(expected)


def test_no_other_threshold_is_better_on_random_scores():
    random = np.random.default_rng(0)
    for _ in range(30):
        scored, earned = random.random(12).round(1), random.integers(0, 2, 12)
        gold = int(earned.sum()) + 1

        def f1(threshold, scored=scored, earned=earned, gold=gold):
            told = scored >= threshold
            return 2 * earned[told].sum() / (told.sum() + gold)

        assert f1(cut(scored, earned, gold)) == pytest.approx(max(f1(one) for one in np.linspace(0, 1.05, 106)))


def test_the_limit_is_the_shortest_of_the_best():
    asked = [judged([("ulcer", "D2")], [("coarse tremor", 0.9), ("ulcer", 0.4)]), judged([], [("tremor", 0.1)])]
    chosen = tune(asked, (1, 2, 3))
    assert (chosen.longest, chosen.rule) == (1, "product")
    assert 0.1 < chosen.threshold <= 0.4
    assert tune([judged([], [])]).threshold == FALLBACK
