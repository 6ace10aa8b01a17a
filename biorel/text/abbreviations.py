"""Abbreviations defined in a document, with their long forms (Schwartz and Hearst 2003).

A definition is a pair within one sentence: `long form (SF)` or `SF (long form)`. The long form must contain the
letters of the short form in order, and the first of them must begin a word.
"""

from __future__ import annotations

import re
from itertools import pairwise

from biorel.text.sentences import sentence_starts

_BRACKETS = re.compile(r"[(\[]([^()\[\]]{1,120})[)\]]")
_SHORTEST, _LONGEST = 2, 10
# what may follow a short form inside its bracket: `(MTX; 5 mg)`, `(ARF, n = 4)`, `(CsA or CyA)`
_TAIL = re.compile(r"\s*(?:[;,=:]|\bor\b|\band\b).*$", re.DOTALL)
_TOKEN = re.compile(r"\S+")
# number of characters before a bracket that are searched for a long form
_REACH = 2000
_QUOTES = "\"'“”‘’"


def find_abbreviations(text: str, title_length: int = 0) -> dict[str, str]:
    """Map each short form to its long form, both spelled as in the text. The first definition of a short form counts.

    Args:
        text: the document's text.
        title_length: number of characters of the title; no definition spans title and abstract.
    """
    definitions: dict[str, str] = {}
    starts = sentence_starts(text, title_length)
    for begin, end in pairwise((*starts, len(text))):
        sentence = text[begin:end]
        for bracket in _BRACKETS.finditer(sentence):
            before = sentence[max(0, bracket.start() - _REACH) : bracket.start()].rstrip()
            for short, long in _definitions(before, bracket[1].strip()):
                definitions.setdefault(short, long)
    return definitions


def _definitions(before: str, inside: str) -> list[tuple[str, str]]:
    """The (short form, long form) given by a bracket and the text before it: one or none."""
    short = _TAIL.sub("", inside).strip(_QUOTES + " ")
    if is_short_form(short):
        long = long_form(short, _window(before, short))
        if long:
            return [(short, long)]
    if before and is_short_form(outer := before.split()[-1].strip(_QUOTES + ",;:")):
        long = long_form(outer, inside)
        # `SF (long form)`: the bracket must contain nothing but the long form
        if long and len(long) == len(inside):
            return [(outer, long)]
    return []


def is_short_form(text: str) -> bool:
    """Whether a text has 2 to 10 characters, one or two words and a letter, and begins with a letter or digit."""
    return (
        _SHORTEST <= len(text) <= _LONGEST
        and len(text.split()) <= 2
        and text[0].isalnum()
        and any(letter.isalpha() for letter in text)
    )


def _window(before: str, short: str) -> str:
    """The last words before the bracket, as many as a long form may have."""
    letters = sum(letter.isalnum() for letter in short)
    most = min(letters + 5, letters * 2)
    tokens = list(_TOKEN.finditer(before))
    return before[tokens[-most:][0].start() :] if tokens else ""


def long_form(short: str, candidate: str) -> str:
    """The shortest suffix of `candidate` that contains the letters of `short` in order; empty without such a suffix.

    Letters are matched from right to left, and the first one must begin a word.
    """
    position = len(candidate)
    letters = [letter.lower() for letter in short if letter.isalnum()]
    lowered = candidate.lower()
    # in a few scripts lower case changes the length of a text, and offsets would no longer match
    if not letters or len(lowered) != len(candidate):
        return ""
    for index, letter in reversed(list(enumerate(letters))):
        position -= 1
        while position >= 0 and (lowered[position] != letter or (index == 0 and not _begins_word(lowered, position))):
            position -= 1
        if position < 0:
            return ""
    long = candidate[position:].strip()
    inner = long.split()
    if len(long) <= len(short) or short in inner or len(inner) > min(len(letters) + 5, len(letters) * 2):
        return ""
    return long


def _begins_word(text: str, position: int) -> bool:
    return position == 0 or not text[position - 1].isalnum()
