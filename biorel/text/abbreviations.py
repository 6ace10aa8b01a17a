"""Short forms and the long forms that a document defines them by, after Schwartz and Hearst (2003).

A definition is a pair inside one sentence: `long form (SF)` or `SF (long form)`. The letters of the short form
must be found in the long form in their order, the first at the start of a word.
"""

from __future__ import annotations

import re
from itertools import pairwise

from biorel.text.sentences import sentence_starts

_BRACKETS = re.compile(r"[(\[]([^()\[\]]{1,120})[)\]]")
_SHORTEST, _LONGEST = 2, 10
# what follows a short form inside its bracket: `(MTX; 5 mg)`, `(ARF, n = 4)`, `(CsA or CyA)`
_TAIL = re.compile(r"\s*(?:[;,=:]|\bor\b|\band\b).*$", re.DOTALL)
_TOKEN = re.compile(r"\S+")
# a long form is looked for in so many characters before its bracket
_REACH = 2000
_QUOTES = "\"'“”‘’"


def find_abbreviations(text: str, title_length: int = 0) -> dict[str, str]:
    """From each short form to its long form, both as they stand in the text; of two definitions the first holds.

    Args:
        text: the document's text.
        title_length: where its abstract begins; no definition spans title and abstract.
    """
    found: dict[str, str] = {}
    starts = sentence_starts(text, title_length)
    for begin, end in pairwise((*starts, len(text))):
        sentence = text[begin:end]
        for bracket in _BRACKETS.finditer(sentence):
            for short, long in _definitions(
                sentence[max(0, bracket.start() - _REACH) : bracket.start()].rstrip(), bracket[1].strip()
            ):
                found.setdefault(short, long)
    return found


def _definitions(before: str, inside: str) -> list[tuple[str, str]]:
    """The pair, if any, that a bracket and what stands before it make."""
    short = _TAIL.sub("", inside).strip(_QUOTES + " ")
    if is_short_form(short):
        long = long_form(short, _window(before, short))
        if long:
            return [(short, long)]
    if before and is_short_form(outer := before.split()[-1].strip(_QUOTES + ",;:")):
        long = long_form(outer, inside)
        # in this order the bracket holds the long form and nothing before it
        if long and len(long) == len(inside):
            return [(outer, long)]
    return []


def is_short_form(text: str) -> bool:
    """Two to ten signs in at most two words, with a letter, the first a letter or digit."""
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
    """The shortest end of `candidate` that holds the letters of `short` in order; empty where there is none.

    Read from the right: every letter or digit of the short form is looked for to the left of the one before, and
    its first one must begin a word.
    """
    place = len(candidate)
    letters = [letter.lower() for letter in short if letter.isalnum()]
    lowered = candidate.lower()
    # lower case can change the length of a text in a few scripts; then offsets mean nothing
    if not letters or len(lowered) != len(candidate):
        return ""
    for number, letter in reversed(list(enumerate(letters))):
        place -= 1
        while place >= 0 and (lowered[place] != letter or (number == 0 and not _begins_word(lowered, place))):
            place -= 1
        if place < 0:
            return ""
    found = candidate[place:].strip()
    inner = found.split()
    if len(found) <= len(short) or short in inner or len(inner) > min(len(letters) + 5, len(letters) * 2):
        return ""
    return found


def _begins_word(text: str, place: int) -> bool:
    return place == 0 or not text[place - 1].isalnum()
