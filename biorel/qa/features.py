"""The eight hand-made features of a passage's words: four by word, the same four by character, averaged over the word.

0, 4  the word (character) stands in the question
1, 5  share of the passages that hold it, of those beside this one
2, 6  Jaccard similarity of the question and the window around it
3, 7  relative edit distance of the question and that window
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from biorel.qa.similarity import Floats, Ints, edit_distance, jaccard
from biorel.text.alignment import Word, words

FEATURES = 8


@dataclass(frozen=True)
class DocumentFrequencies:
    """In how many passages of a question a word or a character stands.

    Attributes:
        passages: how many there are, this one included.
    """

    passages: int
    with_word: Mapping[str, int]
    with_character: Mapping[str, int]

    @classmethod
    def of(cls, passages: Iterable[Collection[str]]) -> DocumentFrequencies:
        """From the distinct words of each passage."""
        by_word: Counter[str] = Counter()
        by_character: Counter[str] = Counter()
        number = 0
        for found in passages:
            number += 1
            by_word.update(found)
            by_character.update(set(chain.from_iterable(found)))
        return cls(number, by_word, by_character)


ALONE = DocumentFrequencies(1, {}, {})


def distinct_words(text: str) -> frozenset[str]:
    """What `DocumentFrequencies` counts of a passage."""
    return frozenset(word.text for word in words(text))


def word_features(question: Sequence[Word], passage: Sequence[Word], company: DocumentFrequencies) -> Floats:
    """[W, 8] features of the words of a passage.

    The share of a symbol follows the paper's example: one that stands in 4 of the other 9 passages has 4 / 10.

    Args:
        question, passage: words in lower case.
        company: counts this passage too.
    """
    if not passage:
        return np.zeros((0, FEATURES), dtype=np.float32)
    texts = [word.text for word in passage]
    by_word = _features([word.text for word in question], texts, company.with_word, company.passages)
    characters = list(chain.from_iterable(texts))
    by_character = _features(
        list(chain.from_iterable(word.text for word in question)),
        characters,
        company.with_character,
        company.passages,
    )
    lengths = np.array([len(text) for text in texts])
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    averaged = np.add.reduceat(by_character, starts, axis=0) / lengths[:, None]
    return np.concatenate([by_word, averaged], axis=1).astype(np.float32)


def _features(question: Sequence[str], passage: Sequence[str], held: Mapping[str, int], passages: int) -> Floats:
    """[T, 4] features of symbols."""
    numbers: dict[str, int] = {}
    asked, read = _numbered(question, numbers), _numbered(passage, numbers)
    others = np.array([max(0, held.get(symbol, 1) - 1) for symbol in passage])
    columns = (
        np.isin(read, asked),
        others / max(1, passages),
        jaccard(asked, read),
        edit_distance(asked, read),
    )
    return np.stack([np.asarray(column, dtype=np.float32) for column in columns], axis=1)


def _numbered(symbols: Sequence[str], numbers: dict[str, int]) -> Ints:
    return np.array([numbers.setdefault(symbol, len(numbers)) for symbol in symbols], dtype=np.int64)
