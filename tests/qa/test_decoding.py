"""Decoding: scoring rules, length limit, overlapping spans, merging of windows, ensembles and directions."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from biorel.errors import ModelError
from biorel.qa.decoding import Decoding, RankedSpan, SpanCandidates, best_span, merge_candidates, rank_spans
from biorel.qa.heads import SpanProbabilities
from biorel.qa.passages import Passage
from biorel.qa.prediction import _merge_directions, _most_probable_spans


def candidates(*rows):
    starts, ends, anchor, partner = zip(*rows, strict=True)
    lengths = np.subtract(ends, starts)
    return SpanCandidates(np.array(starts), np.array(ends), lengths, np.array(anchor, float), np.array(partner, float))


def test_each_rule_can_choose_a_different_best_span():
    found = candidates((0, 1, 1.0, 0.1), (2, 3, 0.4, 0.4))
    assert best_span(found, Decoding(rule="product")) == RankedSpan(2, 3, pytest.approx(0.16))
    assert best_span(found, Decoding(rule="geometric")) == RankedSpan(2, 3, pytest.approx(0.4))
    assert best_span(found, Decoding(rule="mean")) == RankedSpan(0, 1, pytest.approx(0.55))


def test_spans_over_the_length_limit_are_ignored():
    found = candidates((0, 9, 0.9, 0.9), (2, 3, 0.1, 0.1))
    assert best_span(found, Decoding(longest=8)).start == 2
    assert [span.start for span in rank_spans(found, Decoding(longest=8), 5)] == [2]


def test_ranked_spans_do_not_overlap():
    found = candidates((0, 4, 0.9, 0.9), (2, 6, 0.8, 0.8), (4, 6, 0.7, 0.7), (8, 9, 0.1, 0.1))
    assert [(span.start, span.end) for span in rank_spans(found, Decoding(), 9, 0.05)] == [(0, 4), (4, 6)]
    assert len(rank_spans(found, Decoding(), 1)) == 1


def test_no_candidates_give_no_answer():
    assert best_span(SpanCandidates.empty(), Decoding()) is None
    assert rank_spans(SpanCandidates.empty(), Decoding(), 5) == []
    assert len(merge_candidates([SpanCandidates.empty()]).starts) == 0


def test_merging_windows_keeps_the_better_occurrence_of_a_span():
    merged = merge_candidates([candidates((0, 1, 0.5, 0.5), (3, 4, 0.2, 0.2)), candidates((0, 1, 0.9, 0.1))])
    assert best_span(merged, Decoding()).score == pytest.approx(0.25)


def test_merging_an_ensemble_averages_and_counts_a_missing_span_as_0():
    merged = merge_candidates([candidates((0, 1, 0.6, 0.8), (3, 4, 0.8, 0.8)), candidates((0, 1, 0.4, 0.4))], members=2)
    assert rank_spans(merged, Decoding(), 2) == [
        RankedSpan(0, 1, pytest.approx(0.5 * 0.6)),
        RankedSpan(3, 4, pytest.approx(0.16)),
    ]


def test_decoding_survives_json():
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
    return SpanProbabilities(places, torch.tensor([anchor]), torch.tensor([matrix]), backward)


def test_no_span_ends_before_it_starts():
    """Only spans (i, j) with i <= j are found, in both directions."""
    matrix = [[0.1, 0.2, 0.7], [0.9, 0.05, 0.05], [0.6, 0.3, 0.1]]
    mask = torch.ones(1, 3, dtype=torch.bool)
    for backward in (False, True):
        (found,) = _most_probable_spans(direction(matrix, [0.2, 0.5, 0.3], backward), mask, 0)
        spans = {(start, end): anchor * partner for start, end, anchor, partner in zip(*found, strict=True)}
        assert set(spans) == {(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)}
        expected = 0.3 * 0.6 if backward else 0.2 * 0.7
        assert spans[0, 2] == pytest.approx(expected)


def test_no_span_contains_the_no_answer_token_or_padding():
    matrix = [[0.9, 0.1, 0.0, 0.0], [0.1, 0.5, 0.4, 0.0], [0.1, 0.1, 0.8, 0.0]]
    anchors = SpanProbabilities(torch.tensor([[0, 1, 2]]), torch.tensor([[0.7, 0.2, 0.1]]), torch.tensor([matrix]))
    (found,) = _most_probable_spans(anchors, torch.tensor([[True, True, False]]), 1)
    assert {(int(start), int(end)) for start, end, *_ in zip(*found, strict=True)} == {(0, 0), (0, 1), (1, 1)}


def test_merging_directions_drops_repeated_spans():
    """As in MaP, a span of the forward direction is dropped from the backward one."""
    forward = direction([[0.5, 0.5], [0.0, 1.0]], [0.9, 0.1])
    backward = direction([[1.0, 0.0], [0.5, 0.5]], [0.2, 0.8], backward=True)
    mask = torch.ones(1, 2, dtype=torch.bool)
    parts = [_most_probable_spans(way, mask, 0)[0] for way in (forward, backward)]
    merged = _merge_directions(parts, passage(2))
    spans = zip(merged.starts.tolist(), merged.ends.tolist(), strict=True)
    scores = dict(zip(spans, (merged.anchor * merged.partner).tolist(), strict=True))
    assert scores == {(0, 1): pytest.approx(0.45), (0, 2): pytest.approx(0.45), (1, 2): pytest.approx(0.1)}
