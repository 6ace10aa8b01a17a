"""BIO labels: their numbering and their decoding into spans."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biorel.dataset.labels import bio_spans, ner_labels

LABELS = ("O", "B-Chemical", "I-Chemical", "B-Disease", "I-Disease")
OUT, BC, IC, BD, ID = range(5)


def test_labels_begin_with_outside() -> None:
    assert ner_labels(("A", "B")) == ("O", "B-A", "I-A", "B-B", "I-B")


@pytest.mark.parametrize(
    ("tags", "spans"),
    [
        ([], []),
        ([OUT, OUT], []),
        ([BC, IC, OUT, BD], [(0, 2, "Chemical"), (3, 4, "Disease")]),
        ([BC, BC], [(0, 1, "Chemical"), (1, 2, "Chemical")]),
        ([OUT, IC, IC], [(1, 3, "Chemical")]),  # I after O begins a span
        ([IC], [(0, 1, "Chemical")]),  # I at the start begins a span
        ([BC, ID, ID], [(0, 1, "Chemical"), (1, 3, "Disease")]),  # I of another type begins a span
        ([BC, ID, ID, BD], [(0, 1, "Chemical"), (1, 3, "Disease"), (3, 4, "Disease")]),
        ([IC, IC, OUT, ID], [(0, 2, "Chemical"), (3, 4, "Disease")]),
        ([BC, OUT, IC], [(0, 1, "Chemical"), (2, 3, "Chemical")]),
        ([OUT, BD, ID], [(1, 3, "Disease")]),  # the end of the text ends a span
    ],
)
def test_bio_tags_decode_into_spans(tags: list[int], spans: list[tuple[int, int, str]]) -> None:
    assert bio_spans(tags, LABELS) == spans


@given(st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["Chemical", "Disease", ""])), max_size=10))
def test_tags_written_from_spans_decode_into_these_spans(pieces: list[tuple[int, str]]) -> None:
    tags: list[int] = []
    written = []
    for length, type_ in pieces:
        if type_:
            written.append((len(tags), len(tags) + length, type_))
            tags += [LABELS.index(f"B-{type_}")] + [LABELS.index(f"I-{type_}")] * (length - 1)
        else:
            tags += [OUT] * length
    assert bio_spans(tags, LABELS) == written
