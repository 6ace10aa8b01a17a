"""Rule-based sentence boundaries in abstracts: end punctuation, a space, and a character that can begin a sentence.

Only the offsets where sentences begin are stored; the text is not changed. The rules know common abbreviations,
initials and numbers of the literature. A boundary inside a mention does not count.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

_BOUNDARY = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]*[A-Z0-9\u0391-\u03A9])|\n+\s*")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[])(?:e\.g|i\.e|et al|vs|cf|ca|approx|resp|fig|figs|ref|refs|no|nos|vol|dr|mr|mrs|prof|st|"
    r"spp|sp|subsp|var|pv|inc|ltd|co|dept|wt|conc|max|min|temp|[A-Z])\.$",
    re.IGNORECASE,
)
_LONGEST_ABBREVIATION = 10


def sentence_starts(text: str, title_length: int, spans: Iterable[tuple[int, int]] = ()) -> tuple[int, ...]:
    """Offsets at which sentences begin, ascending. The first is 0; the abstract always begins a sentence.

    Args:
        text: the document's text.
        title_length: number of characters of the title.
        spans: mentions as half-open character spans; a boundary strictly inside one is ignored.
    """
    boundaries = {match.end() for match in _BOUNDARY.finditer(text) if not _ends_abbreviation(text, match.start())}
    if title_length > 0:
        boundaries.add(len(text) - len(text[title_length:].lstrip()))
    boundaries.discard(len(text))
    inside = {boundary for start, end in spans for boundary in boundaries if start < boundary < end}
    return tuple(sorted({0} | (boundaries - inside)))


def _ends_abbreviation(text: str, stop: int) -> bool:
    return _ABBREVIATION.search(text[max(0, stop - _LONGEST_ABBREVIATION) : stop]) is not None


def sentence_index(starts: Sequence[int], offset: int) -> int:
    """The index, from 0, of the sentence that contains the offset."""
    return bisect_right(starts, offset) - 1


def sentence_span(starts: Sequence[int], text_length: int, first: int, last: int) -> tuple[int, int]:
    """The half-open character span of all sentences from the one at offset `first` to the one at offset `last`."""
    begin = starts[sentence_index(starts, min(first, last))]
    following = sentence_index(starts, max(first, last)) + 1
    return begin, starts[following] if following < len(starts) else text_length
