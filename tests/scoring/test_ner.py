"""BIO tags as spans, and their strict scoring."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biorel.scoring.metrics import Prf
from biorel.scoring.ner import evaluate_spans, spans

LABELS = ("O", "B-Chemical", "I-Chemical", "B-Disease", "I-Disease")
OUT, BC, IC, BD, ID = range(5)


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        ([], set()),
        ([OUT, OUT], set()),
        ([BC, IC, OUT, BD], {(0, 2, "Chemical"), (3, 4, "Disease")}),
        ([BC, BC], {(0, 1, "Chemical"), (1, 2, "Chemical")}),
        ([OUT, IC, IC], {(1, 3, "Chemical")}),  # I after O opens
        ([IC], {(0, 1, "Chemical")}),  # I at the start opens
        ([BC, ID, ID], {(0, 1, "Chemical"), (1, 3, "Disease")}),  # I of another type opens
        ([BC, OUT, IC], {(0, 1, "Chemical"), (2, 3, "Chemical")}),
        ([OUT, BD, ID], {(1, 3, "Disease")}),  # the last token closes
    ],
)
def test_spans(tags: list[int], found: set[tuple[int, int, str]]) -> None:
    assert spans(tags, LABELS) == found


@given(st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["Chemical", "Disease", ""])), max_size=10))
def test_tags_written_from_spans_read_back(pieces: list[tuple[int, str]]) -> None:
    tags: list[int] = []
    written = set()
    for length, type_ in pieces:
        if type_:
            written.add((len(tags), len(tags) + length, type_))
            tags += [LABELS.index(f"B-{type_}")] + [LABELS.index(f"I-{type_}")] * (length - 1)
        else:
            tags += [OUT] * length
    assert spans(tags, LABELS) == written


def test_a_span_counts_when_start_end_and_type_agree() -> None:
    gold = [[BC, IC, OUT, BD], [BC, OUT]]
    predicted = [[BC, OUT, OUT, BD], [BD, OUT]]  # a wrong end, a right span, a wrong type
    metrics = evaluate_spans(gold, predicted, LABELS)
    assert metrics.overall == Prf.of(1, 3, 3)
    assert metrics.by_type == {"Chemical": Prf.of(0, 1, 2), "Disease": Prf.of(1, 2, 1)}


def test_a_type_without_gold_spans_is_null_E01() -> None:
    metrics = evaluate_spans([[BC, OUT]], [[BC, OUT]], LABELS)
    assert metrics.by_type["Disease"] == Prf(None, None, None, 0, 0, 0)
    assert json.loads(json.dumps(metrics.to_json(), allow_nan=False))["by_type"]["Disease"]["f1"] is None


def test_taggings_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="1 tags for 2 tokens"):
        evaluate_spans([[OUT, OUT]], [[OUT]], LABELS)
    with pytest.raises(ValueError, match="shorter"):
        evaluate_spans([[OUT], [OUT]], [[OUT]], LABELS)
