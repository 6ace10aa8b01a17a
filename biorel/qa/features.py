"""DGCNN's eight hand-made features of a passage's words: four by word, and the same four by character, averaged.

Column  Feature
0, 4    whether the word (character) occurs in the question
1, 5    share of the question's passages, other than this one, that contain it
2, 6    Jaccard similarity of the question and the window around the word
3, 7    edit distance of the question and that window, divided by the question's length

The window of a symbol (a word or a character) is as long as the question, Q symbols, and begins Q // 2 symbols before
it. Beyond the ends of the passage it contains a placeholder, which occurs in no question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from biorel.text.alignment import Word, words

FEATURES = 8
PLACEHOLDER = -1
_WORD_BITS = 64

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class DocumentFrequencies:
    """In how many of a question's passages each word and each character occurs.

    Attributes:
        passages: number of passages, including the one that features are computed for.
    """

    passages: int
    by_word: Mapping[str, int]
    by_character: Mapping[str, int]

    @classmethod
    def of(cls, passages: Iterable[Collection[str]]) -> DocumentFrequencies:
        """Count over passages, each given as its distinct words."""
        by_word: Counter[str] = Counter()
        by_character: Counter[str] = Counter()
        number = 0
        for vocabulary in passages:
            number += 1
            by_word.update(vocabulary)
            by_character.update(set(chain.from_iterable(vocabulary)))
        return cls(number, by_word, by_character)


SINGLE_PASSAGE = DocumentFrequencies(1, {}, {})


def distinct_words(text: str) -> frozenset[str]:
    """The words of a text, as `DocumentFrequencies.of` takes them."""
    return frozenset(word.text for word in words(text))


def word_features(
    question: Sequence[Word], passage: Sequence[Word], document_frequencies: DocumentFrequencies
) -> Floats:
    """[W, 8] features of the W words of a passage.

    A word in 4 of the other 9 passages has the share 4 / 10, as in the paper's example.

    Args:
        question, passage: words in lower case.
        document_frequencies: include this passage.
    """
    if not passage:
        return np.zeros((0, FEATURES), dtype=np.float32)
    texts = [word.text for word in passage]
    passages = document_frequencies.passages
    by_word = _symbol_features([word.text for word in question], texts, document_frequencies.by_word, passages)
    by_character = _symbol_features(
        list(chain.from_iterable(word.text for word in question)),
        list(chain.from_iterable(texts)),
        document_frequencies.by_character,
        passages,
    )
    lengths = np.array([len(text) for text in texts])
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    averaged = np.add.reduceat(by_character, starts, axis=0) / lengths[:, None]
    return np.concatenate([by_word, averaged], axis=1).astype(np.float32)


def _symbol_features(
    question: Sequence[str], passage: Sequence[str], frequencies: Mapping[str, int], passages: int
) -> Floats:
    """[T, 4] features of the T symbols of a passage."""
    numbers: dict[str, int] = {}
    question_ids, passage_ids = _to_ids(question, numbers), _to_ids(passage, numbers)
    others = np.array([max(0, frequencies.get(symbol, 1) - 1) for symbol in passage])
    columns = (
        np.isin(passage_ids, question_ids),
        others / max(1, passages),
        jaccard(question_ids, passage_ids),
        edit_distance(question_ids, passage_ids),
    )
    return np.stack([np.asarray(column, dtype=np.float32) for column in columns], axis=1)


def _to_ids(symbols: Sequence[str], numbers: dict[str, int]) -> Ints:
    return np.array([numbers.setdefault(symbol, len(numbers)) for symbol in symbols], dtype=np.int64)


def question_windows(passage: Ints, size: int) -> Ints:
    """[T] symbols -> [T, size], the window of each symbol."""
    before = size // 2
    padded = np.pad(passage, (before, size - 1 - before), constant_values=PLACEHOLDER)
    return np.lib.stride_tricks.sliding_window_view(padded, size)


def jaccard(question: Ints, passage: Ints) -> Floats:
    """[Q] and [T] symbols -> [T] Jaccard similarities of the question and each window; placeholders do not count."""
    if not len(question) or not len(passage):
        return np.zeros(len(passage), dtype=np.float32)
    ordered = np.sort(question_windows(passage, len(question)), axis=1)
    is_first = np.ones(ordered.shape, dtype=bool)
    is_first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    is_first &= ordered != PLACEHOLDER
    distinct = np.unique(question)
    common = (is_first & np.isin(ordered, distinct)).sum(1)
    similarities: Floats = (common / (is_first.sum(1) + len(distinct) - common)).astype(np.float32)
    return similarities


def edit_distance(question: Ints, passage: Ints) -> Floats:
    """[Q] and [T] symbols -> [T] Levenshtein distances of the question and each window, divided by Q: in 0..1.

    The bit-parallel algorithm of Myers (1999), in Hyyrö's variant for whole strings (2003). A column of the table is
    kept as two bit sets, one bit a question symbol: where the distance rises by 1 and where it falls by 1. All windows
    advance together by one symbol.
    """
    size = len(question)
    if not size or not len(passage):
        return np.ones(len(passage), dtype=np.float32)
    number: Any = (
        np.uint64 if size <= _WORD_BITS else int
    )  # Python's integers, in an object array, hold a long question
    masks = np.zeros(max(passage.max(), question.max()) + 2, dtype=number if size <= _WORD_BITS else object)
    for place, symbol in enumerate(question.tolist()):
        masks[symbol] |= number(1 << place)
    # [Q, T]; the placeholder, -1, indexes the last mask, which is 0
    equal = np.ascontiguousarray(masks[question_windows(passage, size)].T)
    one, last = number(1), number(size - 1)
    up = np.full(len(passage), number((1 << size) - 1), dtype=masks.dtype)
    down = np.zeros(len(passage), dtype=masks.dtype)
    distance = np.full(len(passage), size, dtype=np.int64)
    for same in equal:
        vertical = same | down
        horizontal = (((same & up) + up) ^ up) | same
        right, left = down | ~(horizontal | up), up & horizontal
        distance += ((right >> last) & one).astype(np.int64)
        distance -= ((left >> last) & one).astype(np.int64)
        right, left = (right << one) | one, left << one
        up, down = left | ~(vertical | right), right & vertical
    return (distance / size).astype(np.float32)
