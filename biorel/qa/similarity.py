"""How alike a question is to each window of a passage that is as long as the question.

Both take numbers for symbols (words or characters). The window of the symbol t begins Q // 2 symbols before it; places
before the first and after the last symbol hold a placeholder, which is in no question.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

PLACEHOLDER = -1
_BITS = 64

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]


def windows(passage: Ints, size: int) -> Ints:
    """[T] symbols -> [T, size], the window of each."""
    before = size // 2
    padded = np.pad(passage, (before, size - 1 - before), constant_values=PLACEHOLDER)
    return np.lib.stride_tricks.sliding_window_view(padded, size)


def jaccard(question: Ints, passage: Ints) -> Floats:
    """[Q] and [T] symbols -> [T]: distinct symbols in common over distinct symbols of both; placeholders are none."""
    if not len(question) or not len(passage):
        return np.zeros(len(passage), dtype=np.float32)
    ordered = np.sort(windows(passage, len(question)), axis=1)
    fresh = np.ones(ordered.shape, dtype=bool)
    fresh[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    fresh &= ordered != PLACEHOLDER
    distinct = np.unique(question)
    common = (fresh & np.isin(ordered, distinct)).sum(1)
    shares: Floats = (common / (fresh.sum(1) + len(distinct) - common)).astype(np.float32)
    return shares


def edit_distance(question: Ints, passage: Ints) -> Floats:
    """[Q] and [T] symbols -> [T]: Levenshtein distance of the question and the window, divided by Q, so in 0..1.

    All windows advance together, a symbol at a time. A column of the table is kept as the bits of its steps, upward and
    downward, one bit for each symbol of the question (Myers 1999, for the distance of whole strings as Hyyroe 2003).
    """
    size = len(question)
    if not size or not len(passage):
        return np.ones(len(passage), dtype=np.float32)
    number: Any = np.uint64 if size <= _BITS else int  # numpy's object arrays hold a long question's bits
    places_of = np.zeros(max(passage.max(), question.max()) + 2, dtype=number if size <= _BITS else object)
    for place, symbol in enumerate(question.tolist()):
        places_of[symbol] |= number(1 << place)
    equal = np.ascontiguousarray(places_of[windows(passage, size)].T)  # [Q, T]; the placeholder is the last, which is 0
    one, last = number(1), number(size - 1)
    up = np.full(len(passage), number((1 << size) - 1), dtype=places_of.dtype)
    down = np.zeros(len(passage), dtype=places_of.dtype)
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
