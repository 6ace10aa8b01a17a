"""Lexical cues of a pair: the words between and beside its mentions, as numbers of buckets.

BRAN reads these words too, but must learn from the corpus what an n-gram is; counted directly they carry what
feature-based systems of BioCreative V lived on ("C-induced D", "D in patients treated with C").
A cue is a short string; it is hashed into one of `BUCKETS` buckets, so that no vocabulary has to be kept.

    HT, TH        the words from head to tail, and from tail to head: one, two and three in a row, and their number
    between       each of them again, whichever entity comes first
    HT<, HT>      the word before the first and after the second mention, and the two there; so with TH
    H<, H>        the same beside every mention of the head, wherever it stands; T<, T> beside the tail's
    Hid, Hname    the id and the names of the head, Hword the words of its names; Tid, Tname, Tword of the tail
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from zlib import crc32

from biorel.dataset.pair_features import Place, gap
from biorel.records import Mention
from biorel.text.sentences import sentence_index

BUCKETS = 1 << 17
CLOSEST = 6  # mention pairs of one sentence that are read
LONGEST_GAP = 25  # words between two mentions that are read
STEM = 6  # characters that are kept of a word
PHRASE = 4  # a gap of at most so many words is a cue as a whole

_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class Words:
    """The words of a document, and where its entities stand among them.

    Attributes:
        forms: the stem of each word.
        owners: of a word, the entity that it belongs to; where mentions overlap, that of the first.
        places, names: of an entity, its mentions and their texts in small letters.
        types, ids: of all entities.
    """

    forms: tuple[str, ...]
    owners: Mapping[int, int]
    places: Mapping[int, tuple[Place, ...]]
    types: Sequence[str]
    names: Mapping[int, tuple[str, ...]]
    ids: Sequence[str]


def read_words(
    text: str,
    sentences: Sequence[int],
    mentions: Sequence[tuple[int, Mention]],
    ids: Sequence[str],
    types: Sequence[str],
) -> Words:
    """The words of a document with its entities marked.

    Args:
        text: the document's text.
        sentences: offsets at which sentences begin.
        mentions: (entity, mention) of all linked mentions.
        ids, types: of the entities.
    """
    found = list(_WORD.finditer(text))
    starts = [word.start() for word in found]
    owners: dict[int, int] = {}
    places: dict[int, list[Place]] = {}
    names: dict[int, set[str]] = {}
    for entity, mention in mentions:
        first = max(0, bisect_right(starts, mention.start) - 1)
        last = max(first + 1, bisect_left(starts, mention.end))
        places.setdefault(entity, []).append(Place(first, last, sentence_index(sentences, mention.start)))
        names.setdefault(entity, set()).add(mention.text.lower())
        for word in range(first, last):
            owners.setdefault(word, entity)
    return Words(
        forms=tuple(_stem(word.group()) for word in found),
        owners=owners,
        places={entity: tuple(rows) for entity, rows in places.items()},
        types=types,
        names={entity: tuple(sorted(rows)) for entity, rows in names.items()},
        ids=ids,
    )


def pair_cues(words: Words, head: int, tail: int) -> tuple[int, ...]:
    """The buckets of a pair's cues, ascending, each once; from 0 to `BUCKETS` - 1."""
    return tuple(sorted({crc32(cue.encode("utf-8")) % BUCKETS for cue in cues(words, head, tail)}))


def cues(words: Words, head: int, tail: int) -> Iterator[str]:
    """The cues themselves, in reading order, with repetitions."""
    heads, tails = words.places[head], words.places[tail]
    shared = [(gap(one, other), one, other) for one in heads for other in tails if one.sentence == other.sentence]
    for _, one, other in sorted(shared, key=lambda link: link[0])[:CLOSEST]:
        first, second = (one, other) if one.start < other.start else (other, one)
        order = "HT" if one.start < other.start else "TH"
        yield from _between(order, _forms(words, head, tail, first.end, second.start)[:LONGEST_GAP])
        yield from _before(f"{order}<", _forms(words, head, tail, first.start - 2, first.start))
        yield from _after(f"{order}>", _forms(words, head, tail, second.end, second.end + 2))
    for side, entity in (("H", head), ("T", tail)):
        for place in words.places[entity]:
            yield from _before(f"{side}<", _forms(words, head, tail, place.start - 2, place.start))
            yield from _after(f"{side}>", _forms(words, head, tail, place.end, place.end + 2))
        yield f"{side}id {words.ids[entity]}"
        for name in words.names[entity]:
            yield f"{side}name {name}"
            yield from (f"{side}word {_stem(word)}" for word in name.split())


def _between(order: str, forms: Sequence[str]) -> Iterator[str]:
    yield f"{order} length {min(len(forms), 12)}"
    yield from (f"{order} {form}" for form in forms)
    yield from (f"between {form}" for form in forms)
    yield from (f"{order} {one} {two}" for one, two in pairwise(forms))
    yield from (f"{order} {one} {two} {three}" for one, two, three in zip(forms, forms[1:], forms[2:], strict=False))
    if len(forms) <= PHRASE:
        yield f"{order} whole {' '.join(forms)}"


def _before(label: str, forms: Sequence[str]) -> Iterator[str]:
    if forms:
        yield f"{label} {forms[-1]}"
        yield f"{label} {' '.join(forms)}"


def _after(label: str, forms: Sequence[str]) -> Iterator[str]:
    if forms:
        yield f"{label} {forms[0]}"
        yield f"{label} {' '.join(forms)}"


def _forms(words: Words, head: int, tail: int, first: int, last: int) -> list[str]:
    """The stems of some words; each mention on the way is one mark, of the head, the tail or its type."""
    forms: list[str] = []
    for word in range(max(0, first), min(last, len(words.forms))):
        owner = words.owners.get(word)
        if owner is None:
            forms.append(words.forms[word])
            continue
        mark = "<head>" if owner == head else "<tail>" if owner == tail else f"<{words.types[owner]}>"
        if not forms or forms[-1] != mark:
            forms.append(mark)
    return forms


def _stem(word: str) -> str:
    return "#" if word.isdigit() else word.lower()[:STEM]
