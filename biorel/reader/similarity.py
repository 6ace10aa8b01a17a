"""How alike a question is to each window of a passage that is as long as the question.

Both take numbers for symbols (words or characters). The window of the symbol t begins Q // 2 symbols before it; places
before the first and after the last symbol hold a placeholder, which is in no question.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

PLACEHOLDER = -1

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

    All windows advance together, a row of the table at a time. Within a row, inserting is a running minimum:
    d[j] = min over k <= j of (c[k] + j - k), c being the row without insertions.
    """
    size = len(question)
    if not size or not len(passage):
        return np.ones(len(passage), dtype=np.float32)
    window = windows(passage, size)
    places = np.arange(size + 1, dtype=np.int16)
    row = np.broadcast_to(places, (len(passage), size + 1)).copy()
    for number in range(size):
        changed = row[:, :-1] + (window[:, number, None] != question[None, :])
        kept = np.empty_like(row)
        kept[:, 0] = number + 1
        kept[:, 1:] = np.minimum(changed, row[:, 1:] + 1)
        row = np.minimum.accumulate(kept - places, axis=1) + places
    distances: Floats = (row[:, -1] / size).astype(np.float32)
    return distances
