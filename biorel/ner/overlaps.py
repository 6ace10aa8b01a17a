"""Of spans that overlap, the ones to keep."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

Span = tuple[int, int, str]


def without_overlaps(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Disjoint spans in the order of the text: the longest wins, of equally long ones the first, then by type.

    Args:
        spans: (start, end, type), half-open.
    """
    starts: list[int] = []
    kept: list[Span] = []
    for span in sorted(set(spans), key=lambda span: (span[0] - span[1], span[0], span[2])):
        place = bisect_left(starts, span[0])
        free_before = place == 0 or kept[place - 1][1] <= span[0]
        free_behind = place == len(kept) or kept[place][0] >= span[1]
        if free_before and free_behind:
            starts.insert(place, span[0])
            kept.insert(place, span)
    return tuple(kept)
