"""Decoding: rules, length limit, spans that do not overlap, joining of windows and of ensembles."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from biorel.errors import ModelError
from biorel.qa.decoding import Candidates, Decoding, Ranked, best, merged, ranked
from biorel.qa.passages import Passage
from biorel.qa.prediction import _joined, _spans
from biorel.qa.spans import Direction


def candidates(*rows):
    starts, ends, anchor, partner = zip(*rows, strict=True)
    lengths = np.subtract(ends, starts)
    return Candidates(np.array(starts), np.array(ends), lengths, np.array(anchor, float), np.array(partner, float))


def test_rules_differ_in_what_they_hold_for_best():
    found = candidates((0, 1, 1.0, 0.1), (2, 3, 0.4, 0.4))
    assert best(found, Decoding(rule="product")) == Ranked(2, 3, pytest.approx(0.16))
    assert best(found, Decoding(rule="geometric")) == Ranked(2, 3, pytest.approx(0.4))
    assert best(found, Decoding(rule="mean")) == Ranked(0, 1, pytest.approx(0.55))


def test_a_span_over_the_limit_is_no_answer():
    found = candidates((0, 9, 0.9, 0.9), (2, 3, 0.1, 0.1))
    assert best(found, Decoding(longest=8)).start == 2
    assert [one.start for one in ranked(found, Decoding(longest=8), 5)] == [2]


def test_answers_do_not_overlap():
    found = candidates((0, 4, 0.9, 0.9), (2, 6, 0.8, 0.8), (4, 6, 0.7, 0.7), (8, 9, 0.1, 0.1))
    assert [(one.start, one.end) for one in ranked(found, Decoding(), 9, 0.05)] == [(0, 4), (4, 6)]
    assert len(ranked(found, Decoding(), 1)) == 1


def test_nothing_found_is_no_answer():
    assert best(Candidates.none(), Decoding()) is None
    assert ranked(Candidates.none(), Decoding(), 5) == []
    assert len(merged([Candidates.none()]).starts) == 0


def test_windows_keep_the_better_finding_of_a_span():
    joined = merged([candidates((0, 1, 0.5, 0.5), (3, 4, 0.2, 0.2)), candidates((0, 1, 0.9, 0.1))])
    assert best(joined, Decoding()).score == pytest.approx(0.25)


def test_an_ensemble_averages_and_counts_what_a_member_did_not_find_as_0():
    joined = merged([candidates((0, 1, 0.6, 0.8), (3, 4, 0.8, 0.8)), candidates((0, 1, 0.4, 0.4))], members=2)
    assert ranked(joined, Decoding(), 2) == [
        Ranked(0, 1, pytest.approx(0.5 * 0.6)),
        Ranked(3, 4, pytest.approx(0.16)),
    ]


def test_a_decoding_is_written_and_read_again():
    decoding = Decoding("mean", 8, 0.25, 0.125)
    assert Decoding.from_json(decoding.to_json()) == decoding
    for broken in ({}, [], {**decoding.to_json(), "rule": "sum"}, {**decoding.to_json(), "longest": "long"}):
        with pytest.raises(ModelError, match=r"decoding\.json"):
            Decoding.from_json(broken)


def passage(length):
    places = tuple(range(length))
    return Passage(0, (1,), places, places, tuple(place + 1 for place in places), np.zeros((length, 8)), ())


def direction(matrix, anchor, backward=False):
    places = torch.arange(len(anchor))[None]
    return Direction(places, torch.tensor([anchor]), torch.tensor([matrix]), backward)


def test_a_start_never_comes_after_its_end():
    """Of all (i, j) only i <= j, whatever their probabilities, in both directions."""
    matrix = [[0.1, 0.2, 0.7], [0.9, 0.05, 0.05], [0.6, 0.3, 0.1]]
    mask = torch.ones(1, 3, dtype=torch.bool)
    for backward in (False, True):
        (found,) = _spans(direction(matrix, [0.2, 0.5, 0.3], backward), mask, 0)
        spans = {(start, end): one * other for start, end, one, other in zip(*found, strict=True)}
        assert set(spans) == {(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)}
        expected = 0.3 * 0.6 if backward else 0.2 * 0.7
        assert spans[0, 2] == pytest.approx(expected)


def test_the_null_token_is_no_span_and_padding_is_none():
    matrix = [[0.9, 0.1, 0.0, 0.0], [0.1, 0.5, 0.4, 0.0], [0.1, 0.1, 0.8, 0.0]]
    anchors = Direction(torch.tensor([[0, 1, 2]]), torch.tensor([[0.7, 0.2, 0.1]]), torch.tensor([matrix]))
    (found,) = _spans(anchors, torch.tensor([[True, True, False]]), 1)
    assert {(int(start), int(end)) for start, end, *_ in zip(*found, strict=True)} == {(0, 0), (0, 1), (1, 1)}


def test_spans_of_both_directions_are_joined_without_repeats():
    """A pair that the forward direction has is pruned from the backward one, as in MaP."""
    forward = direction([[0.5, 0.5], [0.0, 1.0]], [0.9, 0.1])
    backward = direction([[1.0, 0.0], [0.5, 0.5]], [0.2, 0.8], backward=True)
    mask = torch.ones(1, 2, dtype=torch.bool)
    parts = [_spans(one, mask, 0)[0] for one in (forward, backward)]
    joined = _joined(parts, passage(2))
    spans = zip(joined.starts.tolist(), joined.ends.tolist(), strict=True)
    told = dict(zip(spans, (joined.anchor * joined.partner).tolist(), strict=True))
    assert told == {(0, 1): pytest.approx(0.45), (0, 2): pytest.approx(0.45), (1, 2): pytest.approx(0.1)}
