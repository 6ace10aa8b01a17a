"""Finds the most similar name of a lexicon, by the cosine of TF-IDF vectors of character n-grams.

The vectors are computed at the first search and are not saved. They take about 1 KB of memory for each name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_NGRAMS = (2, 4)
_MOST_KNOWN = 100_000
# two float32 sums of the same similarity may differ by this much
_ROUNDING = 1e-6
_NOTHING = ("", 0.0)


class SimilarNames:
    """Finds the most similar of `keys`, which are normal forms in sorted order, so that ties are broken alike."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = keys
        self._vectorizer: Any = None
        self._columns: Any = None
        self._known: dict[str, tuple[str, float]] = {}

    def nearest(self, text: str) -> tuple[str, float]:
        """The most similar key (if several, the first) and its similarity in 0..1; ("", 0) if none shares an n-gram."""
        if text not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[text] = self._search(text) if self._keys and text else _NOTHING
        return self._known[text]

    def _search(self, text: str) -> tuple[str, float]:
        if self._vectorizer is None:
            self._build()
        # [1, V] x [V, N], sparse: only names that share an n-gram are visited
        scores = self._vectorizer.transform([text]) @ self._columns
        if not scores.nnz:
            return _NOTHING
        best = float(scores.data.max())
        place = int(scores.indices[scores.data >= best - _ROUNDING].min())
        return self._keys[place], min(best, 1.0)

    def _build(self) -> None:
        # the import takes half a second, and most names need no similarity
        from sklearn.feature_extraction.text import TfidfVectorizer

        self._vectorizer = TfidfVectorizer(
            analyzer="char_wb", ngram_range=_NGRAMS, sublinear_tf=True, dtype=np.float32, lowercase=False
        )
        self._columns = self._vectorizer.fit_transform(self._keys).T.tocsr()
