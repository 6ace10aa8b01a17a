"""Characters to tokens: a mention covers every token that it overlaps."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence


def token_span(starts: Sequence[int], ends: Sequence[int], start: int, end: int) -> tuple[int, int] | None:
    """The half-open range of tokens that overlap the characters [start, end), or None where none does.

    Args:
        starts, ends: [T] character spans of the tokens, ascending and disjoint.
    """
    first = bisect_right(ends, start)
    last = bisect_left(starts, end)
    return (first, last) if first < last else None
