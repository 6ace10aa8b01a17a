"""The vote over documents: the paper's example, its order, its indifference to the order of the input."""

from __future__ import annotations

import random

import pytest

from biorel.errors import ConfigError
from biorel.scoring.vote import VOTES, reciprocal_rank, vote


def test_the_example_of_the_paper_goes_to_the_one_that_is_sure():
    """(A, 0.7) against four times (B, 0.2): 0.49 / 1.7 against 0.16 / 1.8."""
    found = [("A", "1", 0.7), *(("B", str(number), 0.2) for number in range(2, 6))]
    first, second = vote(found)
    assert (first.answer, second.answer) == ("A", "B")
    assert first.score == pytest.approx(0.49 / 1.7)
    assert second.score == pytest.approx(0.16 / 1.8)
    assert vote(found, "sum")[0].answer == "B"


def test_numbers_matter_where_all_are_sure():
    found = [("A", "1", 0.9), ("B", "2", 0.85), ("B", "3", 0.85)]
    assert [one.answer for one in vote(found)] == ["B", "A"]
    assert [one.answer for one in vote(found, "max")] == ["A", "B"]


def test_within_a_document_only_the_best_score_counts():
    (one,) = vote([("A", "1", 0.3), ("A", "1", 0.8), ("A", "1", 0.5), ("A", "2", 0.1)], "sum")
    assert one.score == pytest.approx(0.9)
    assert list(one.by_document.items()) == [("1", 0.8), ("2", 0.1)]
    assert one.support == 2


def test_the_order_of_the_input_changes_nothing():
    random_ = random.Random(1)
    found = [(random_.choice("ABCD"), str(random_.randrange(9)), random_.random()) for _ in range(200)]
    turned = random_.sample(found, len(found))
    for rule in VOTES:
        assert vote(found, rule) == vote(turned, rule)


def test_equal_votes_go_by_documents_then_by_name():
    assert [one.answer for one in vote([("B", "1", 0.5), ("A", "2", 0.5)])] == ["A", "B"]
    assert [one.answer for one in vote([("A", "1", 0.0), ("B", "1", 0.0), ("B", "2", 0.0)])] == ["B", "A"]


def test_nothing_found_is_no_answer():
    assert vote([]) == []


def test_rejects_an_unknown_rule():
    with pytest.raises(ConfigError, match="unknown vote 'mean'"):
        vote([], "mean")


def test_reciprocal_rank_is_of_the_first_right_answer():
    assert reciprocal_rank(["a", "b", "c"], frozenset({"b", "c"})) == 0.5
    assert reciprocal_rank(["a"], frozenset({"b"})) == 0.0
