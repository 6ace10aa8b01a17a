"""Lexical features of a pair: the words between and around its mentions, hashed into buckets.

Not part of the BRAN paper. BRAN reads the same words, but it has to learn from the corpus what an n-gram is. Counted
directly, n-grams carry what the feature-based systems of BioCreative V relied on ("C-induced D", "D in patients
treated with C"). Each feature is a short string, hashed into one of `BUCKETS` buckets; no vocabulary is stored.

    HT, TH        unigrams, bigrams and trigrams from head to tail (tail to head), and the number of words
    between       the unigrams again, in either order of the entities
    HT<, HT>      the last word before the first mention and the first word after the second, and two words each
    H<, H>        the same around every mention of the head; T<, T> around every mention of the tail
    Hid, Hname    the head's id and its names, Hword the words of its names; Tid, Tname, Tword for the tail
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
CLOSEST = 6  # mention pairs read, of those within one sentence
LONGEST_GAP = 25  # words read between two mentions
STEM = 6  # characters kept of a word
PHRASE = 4  # a gap of at most this many words is also one feature as a whole
_MOST_COUNTED = 12  # the number of words between two mentions is capped here

_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class MarkedWords:
    """The words of a document and the entities that they belong to.

    Attributes:
        stems: the stem of each word.
        owners: maps the index of a word to its entity; where mentions overlap, to the entity of the first mention.
        places: the mentions of each entity, as spans of words.
        names: the texts of each entity's mentions, in lower case and sorted.
        types, ids: the type and the id of each entity.
    """

    stems: tuple[str, ...]
    owners: Mapping[int, int]
    places: Mapping[int, tuple[Place, ...]]
    names: Mapping[int, tuple[str, ...]]
    types: Sequence[str]
    ids: Sequence[str]


def mark_words(
    text: str,
    sentences: Sequence[int],
    mentions: Sequence[tuple[int, Mention]],
    ids: Sequence[str],
    types: Sequence[str],
) -> MarkedWords:
    """Split a document into words and mark its entities.

    Args:
        text: the document's text.
        sentences: offsets at which sentences begin.
        mentions: (entity index, mention) for every linked mention.
        ids, types: [E] the id and the type of each entity.
    """
    matches = list(_WORD.finditer(text))
    starts = [word.start() for word in matches]
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
    return MarkedWords(
        stems=tuple(_stem(word.group()) for word in matches),
        owners=owners,
        places={entity: tuple(of_entity) for entity, of_entity in places.items()},
        names={entity: tuple(sorted(of_entity)) for entity, of_entity in names.items()},
        types=types,
        ids=ids,
    )


def lexical_features(words: MarkedWords, head: int, tail: int) -> tuple[int, ...]:
    """The buckets of a pair's features: distinct, ascending, from 0 to `BUCKETS` - 1."""
    return tuple(sorted({crc32(feature.encode("utf-8")) % BUCKETS for feature in feature_strings(words, head, tail)}))


def feature_strings(words: MarkedWords, head: int, tail: int) -> Iterator[str]:
    """The features of a pair before hashing, with repetitions."""
    heads, tails = words.places[head], words.places[tail]
    same_sentence = [
        (gap(of_head, of_tail), of_head, of_tail)
        for of_head in heads
        for of_tail in tails
        if of_head.sentence == of_tail.sentence
    ]
    for _, of_head, of_tail in sorted(same_sentence, key=lambda mention_pair: mention_pair[0])[:CLOSEST]:
        first, second = (of_head, of_tail) if of_head.start < of_tail.start else (of_tail, of_head)
        order = "HT" if of_head.start < of_tail.start else "TH"
        yield from _between(order, _marked(words, head, tail, first.end, second.start)[:LONGEST_GAP])
        yield from _before(f"{order}<", _marked(words, head, tail, first.start - 2, first.start))
        yield from _after(f"{order}>", _marked(words, head, tail, second.end, second.end + 2))
    for side, entity in (("H", head), ("T", tail)):
        for place in words.places[entity]:
            yield from _before(f"{side}<", _marked(words, head, tail, place.start - 2, place.start))
            yield from _after(f"{side}>", _marked(words, head, tail, place.end, place.end + 2))
        yield f"{side}id {words.ids[entity]}"
        for name in words.names[entity]:
            yield f"{side}name {name}"
            yield from (f"{side}word {_stem(word)}" for word in name.split())


def _between(order: str, words: Sequence[str]) -> Iterator[str]:
    yield f"{order} length {min(len(words), _MOST_COUNTED)}"
    yield from (f"{order} {word}" for word in words)
    yield from (f"between {word}" for word in words)
    yield from (f"{order} {one} {two}" for one, two in pairwise(words))
    yield from (f"{order} {one} {two} {three}" for one, two, three in zip(words, words[1:], words[2:], strict=False))
    if len(words) <= PHRASE:
        yield f"{order} whole {' '.join(words)}"


def _before(label: str, words: Sequence[str]) -> Iterator[str]:
    if words:
        yield f"{label} {words[-1]}"
        yield f"{label} {' '.join(words)}"


def _after(label: str, words: Sequence[str]) -> Iterator[str]:
    if words:
        yield f"{label} {words[0]}"
        yield f"{label} {' '.join(words)}"


def _marked(words: MarkedWords, head: int, tail: int, first: int, last: int) -> list[str]:
    """The stems of words [first, last), each mention replaced by one mark: head, tail, or its type."""
    marked: list[str] = []
    for word in range(max(0, first), min(last, len(words.stems))):
        owner = words.owners.get(word)
        if owner is None:
            marked.append(words.stems[word])
            continue
        mark = "<head>" if owner == head else "<tail>" if owner == tail else f"<{words.types[owner]}>"
        if not marked or marked[-1] != mark:
            marked.append(mark)
    return marked


def _stem(word: str) -> str:
    return "#" if word.isdigit() else word.lower()[:STEM]
