"""Sentence borders in abstracts, by rule: a final stop, a space, and what can begin a sentence.

Only where sentences begin is stored; nothing of the text is changed. The rules know the
abbreviations, initials and numbers of the literature; a border inside a mention is no border.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

_BORDER = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]*[A-Z0-9\u0391-\u03A9])|\n+\s*")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[])(?:e\.g|i\.e|et al|vs|cf|ca|approx|resp|fig|figs|ref|refs|no|nos|vol|dr|mr|mrs|prof|st|"
    r"spp|sp|subsp|var|pv|inc|ltd|co|dept|wt|conc|max|min|temp|[A-Z])\.$",
    re.IGNORECASE,
)
_LONGEST_ABBREVIATION = 10


def sentence_starts(text: str, title_length: int, spans: Iterable[tuple[int, int]] = ()) -> tuple[int, ...]:
    """Offsets at which sentences begin, ascending; the first is 0, and the abstract begins one.

    Args:
        text: the document's text.
        title_length: length of the title; a sentence begins after it and its space.
        spans: mentions; a border strictly inside one of them does not count.
    """
    borders = {match.end() for match in _BORDER.finditer(text) if not _is_abbreviation(text, match.start())}
    if title_length > 0:
        borders.add(len(text) - len(text[title_length:].lstrip()))
    borders.discard(len(text))
    inside = {border for start, end in spans for border in borders if start < border < end}
    return tuple(sorted({0} | (borders - inside)))


def _is_abbreviation(text: str, stop: int) -> bool:
    return _ABBREVIATION.search(text[max(0, stop - _LONGEST_ABBREVIATION) : stop]) is not None


def sentence_index(starts: Sequence[int], offset: int) -> int:
    """The number, from 0, of the sentence that holds the offset."""
    return bisect_right(starts, offset) - 1


def sentence_span(starts: Sequence[int], text_length: int, first: int, last: int) -> tuple[int, int]:
    """The characters from the start of the sentence around `first` to the end of the one around `last`."""
    begin = starts[sentence_index(starts, min(first, last))]
    following = sentence_index(starts, max(first, last)) + 1
    return begin, starts[following] if following < len(starts) else text_length
