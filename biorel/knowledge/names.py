"""Where the names of a graph stand in a text: for tasks that are given no entities."""

from __future__ import annotations

import re
from collections.abc import Collection

from biorel.knowledge.query import name_key

_WORD = re.compile(r"\w+|[^\w\s]")
_LONGEST = 8  # words of a name
_SHORTEST = 3  # characters of a name: shorter ones stand for too many things


def find_names(text: str, names: Collection[str]) -> list[tuple[int, int]]:
    """Spans of the text that are names, from left to right, the longest at each place, none within another.

    Args:
        names: as `name_key` spells them; those of more than 8 words or fewer than 3 characters are not looked for.

    Returns:
        character spans, half-open.
    """
    words = [match.span() for match in _WORD.finditer(text)]
    found: list[tuple[int, int]] = []
    place = 0
    while place < len(words):
        start = words[place][0]
        for last in range(min(place + _LONGEST, len(words)) - 1, place - 1, -1):
            end = words[last][1]
            if end - start >= _SHORTEST and name_key(text[start:end]) in names:
                found.append((start, end))
                place = last
                break
        place += 1
    return found
