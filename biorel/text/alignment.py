"""Words and tokens with their characters: a mention covers every token that it overlaps."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

# the same runs as the tokenizer's first split
_WORD = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")


class Word(NamedTuple):
    """A word in lower case, with its half-open character span."""

    text: str
    start: int
    end: int


def words(text: str) -> tuple[Word, ...]:
    """The words of a text, in order: runs of letters, runs of digits, single other characters. Blanks are left out."""
    return tuple(Word(match[0].lower(), match.start(), match.end()) for match in _WORD.finditer(text))


def token_span(starts: Sequence[int], ends: Sequence[int], start: int, end: int) -> tuple[int, int] | None:
    """The half-open range of tokens that overlap the characters [start, end), or None if no token does.

    Args:
        starts, ends: [T] character spans of the tokens, ascending and disjoint.
    """
    first = bisect_right(ends, start)
    last = bisect_left(starts, end)
    return (first, last) if first < last else None
