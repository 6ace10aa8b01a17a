"""How much JSON is read at once: what it takes in memory grows with its length and with the values in it."""

from __future__ import annotations

LARGEST_JSON = 2**26  # characters; the question set SQuAD 2.0 has 42 million
MOST_VALUES = 4_000_000


def is_bearable(text: str) -> bool:
    """Whether a text can be loaded as JSON in some hundred MB; commas within strings count as values, too."""
    return len(text) <= LARGEST_JSON and sum(map(text.count, ",[{")) <= MOST_VALUES
