"""Resolve overlapping spans of a text, and check whether a span begins and ends at word borders."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

# start, end (half-open, in characters), entity type
Span = tuple[int, int, str]


def without_overlaps(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Keep disjoint spans, in text order. Longer spans take precedence, then earlier ones, then types by name."""
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


def is_bordered(text: str, start: int, end: int) -> bool:
    """Whether the span neither begins nor ends inside a run of letters and digits."""
    opens = start == 0 or not (text[start - 1].isalnum() and text[start].isalnum())
    closes = end == len(text) or not (text[end].isalnum() and text[end - 1].isalnum())
    return opens and closes
