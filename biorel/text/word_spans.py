"""Words with their places: runs of letters, runs of digits, single other signs, as the tokenizer's own first cut."""

from __future__ import annotations

import re
from typing import NamedTuple

_WORD = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")


class Word(NamedTuple):
    """A word in lower case and the characters that it spans."""

    text: str
    start: int
    end: int


def words(text: str) -> tuple[Word, ...]:
    """The words of a text, in order; blanks are in none."""
    return tuple(Word(match[0].lower(), match.start(), match.end()) for match in _WORD.finditer(text))
