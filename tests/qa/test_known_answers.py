"""The vote over abstracts against known pairs, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from biorel.qa.decoding import Candidates, Decoding
from biorel.qa.known_answers import reciprocal_ranks
from biorel.qa.metrics import Judged
from biorel.records import Mention, Question


def judged(doc_id, asked, *found, asks="tail"):
    """A document whose mentions are one character each, D0, D1 and so on; findings are (number, score)."""
    mentions = tuple(Mention(doc_id, place, place + 1, "x", "Disease", f"D{place}") for place in range(4))
    starts = np.array([place for place, _ in found], dtype=int)
    sides = np.array([score for _, score in found], dtype=float)
    candidates = Candidates(starts, starts + 1, np.ones(len(found), int), sides, np.ones(len(found)))
    return Judged(Question("q", doc_id, "?", "r", asks, asked, "Disease", (), ()), "xxxx", mentions, candidates)


def test_the_rank_is_of_the_vote_over_the_abstracts_of_a_concept():
    asked = [
        judged("1", "C1", (0, 0.7), (1, 0.2)),
        *(judged(str(number), "C1", (1, 0.2)) for number in range(2, 6)),
        judged("6", "C2", (2, 0.5), (3, 0.4)),
        judged("7", "C3", (2, 0.5)),
        judged("8", "C1", (3, 0.9), asks="head"),
    ]
    told = reciprocal_ranks(asked, Decoding(), {"C1": frozenset({"D1"}), "C2": frozenset({"D3"})}, "tail")
    assert told["all"]["questions"] == 2
    assert told["several"]["questions"] == 1
    # five times 0.2 outweigh 0.7 by their sum alone
    assert told["several"]["smoothed"] == told["several"]["max"] == pytest.approx(0.5)
    assert told["several"]["sum"] == pytest.approx(1.0)
    assert told["all"]["sum"] == pytest.approx((1.0 + 0.5) / 2)


def test_nothing_known_is_none():
    told = reciprocal_ranks([judged("1", "C1", (0, 0.7))], Decoding(), {}, "tail")
    assert told["all"] == {"questions": 0, "smoothed": None, "squares": None, "sum": None, "max": None}


def test_a_known_answer_that_no_abstract_tells_counts_as_0():
    told = reciprocal_ranks([judged("1", "C1", (0, 0.7))], Decoding(), {"C1": frozenset({"D9"})}, "tail")
    assert told["all"]["smoothed"] == 0
