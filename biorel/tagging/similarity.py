"""The most similar name of a lexicon, by the cosine of TF-IDF vectors of character n-grams.

Built from the names when it is first asked; nothing of it is stored. Memory: about 0.5 KB a name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_NGRAMS = (2, 4)


class SimilarNames:
    """Finds the nearest of `keys` (normal forms, sorted, so that ties are settled the same way each time)."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = keys
        self._vectorizer: Any = None
        self._columns: Any = None

    def nearest(self, text: str, count: int = 1) -> list[tuple[str, float]]:
        """The most similar keys with their similarity in 0..1, the best first; of equals the first key."""
        if not self._keys or not text:
            return []
        if self._vectorizer is None:
            self._build()
        query = self._vectorizer.transform([text])
        # only the names that share an n-gram are touched
        scores = query @ self._columns
        order = np.lexsort((scores.indices, -np.round(scores.data, 6)))[:count]
        return [(self._keys[scores.indices[place]], float(scores.data[place])) for place in order]

    def _build(self) -> None:
        # the import alone takes half a second, and most names need no similarity
        from sklearn.feature_extraction.text import TfidfVectorizer

        self._vectorizer = TfidfVectorizer(
            analyzer="char_wb", ngram_range=_NGRAMS, sublinear_tf=True, dtype=np.float32, lowercase=False
        )
        self._columns = self._vectorizer.fit_transform(self._keys).T.tocsr()
