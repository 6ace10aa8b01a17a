"""Overlapping spans: the longest is kept, and the outcome does not depend on the order."""

from __future__ import annotations

import random
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from biorel.ner.spans import without_overlaps

SPANS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 8), st.sampled_from("ab")).map(lambda s: (s[0], s[0] + s[1], s[2]))
)


def test_keeps_the_longest_span_then_the_first():
    assert without_overlaps([(0, 5, "b"), (3, 10, "a"), (10, 12, "a")]) == ((3, 10, "a"), (10, 12, "a"))
    assert without_overlaps([(2, 4, "a"), (3, 5, "a")]) == ((2, 4, "a"),)
    assert without_overlaps([(2, 4, "b"), (2, 4, "a")]) == ((2, 4, "a"),)


@given(SPANS, st.integers(0, 5))
def test_kept_spans_are_disjoint_ordered_and_touch_all_others(spans, seed):
    kept = without_overlaps(spans)
    assert all(left[1] <= right[0] for left, right in pairwise(kept))
    assert all(any(start < stop and begin < end for begin, stop, _ in kept) for start, end, _ in spans)
    shuffled = random.Random(seed).sample(spans, len(spans))
    assert without_overlaps(shuffled) == kept
