"""Characters to tokens, against the definition of overlap."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biorel.text.alignment import token_span

STARTS, ENDS = (0, 4, 5, 9), (4, 5, 7, 12)  # no space between the first three; gaps at 7-9


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0, 4, (0, 1)),  # a token exactly
        (1, 3, (0, 1)),  # inside a token
        (3, 5, (0, 2)),  # a part of one and the whole of the next
        (4, 5, (1, 2)),
        (0, 12, (0, 4)),
        (7, 9, None),  # only the gap
        (6, 10, (2, 4)),  # over the gap
        (8, 9, None),
        (12, 15, None),  # beyond the text
        (11, 99, (3, 4)),
    ],
)
def test_a_mention_covers_every_token_that_it_overlaps(start: int, end: int, expected: tuple[int, int] | None) -> None:
    assert token_span(STARTS, ENDS, start, end) == expected


def test_without_tokens_there_is_no_span() -> None:
    assert token_span((), (), 0, 3) is None


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4)), max_size=12), st.integers(0, 40), st.integers(1, 9))
@settings(max_examples=200, deadline=None)
def test_the_span_is_the_run_of_overlapping_tokens(steps: list[tuple[int, int]], start: int, size: int) -> None:
    starts, ends, place = [], [], 0
    for gap, length in steps:
        starts.append(place + gap)
        ends.append(place + gap + length)
        place += gap + length
    overlapping = [i for i in range(len(starts)) if starts[i] < start + size and ends[i] > start]
    expected = (overlapping[0], overlapping[-1] + 1) if overlapping else None
    assert token_span(starts, ends, start, start + size) == expected
