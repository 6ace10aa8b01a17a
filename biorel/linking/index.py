"""Looks up the names of one entity type by their normal forms. The best of several concepts comes first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from biorel.linking.lexicon import SOURCES
from biorel.linking.names import normal, order_key, squeezed, stemmed
from biorel.linking.word_classes import kindred_words, same_words
from biorel.records import Name

# from strict to loose; a form is used if no stricter one finds the name
FORMS: Mapping[str, Callable[[str], str]] = {
    "normal": normal,
    "order": order_key,
    "squeezed": squeezed,
    "stemmed": stemmed,
    "same": same_words,
    "kindred": kindred_words,
}
# shorter keys of loose forms are too ambiguous
_SHORTEST = 4
Readings = tuple[str, ...]
_Ranks = dict[str, tuple[int, int]]


class NameIndex:
    """Maps names of one type to concepts. A normal form is indexed at its first use.

    Attributes:
        keys: the normal forms, sorted.
    """

    def __init__(self, names: Iterable[Name]) -> None:
        self._ranks: dict[str, _Ranks] = {}
        for name in names:
            key = normal(name.name)
            if key:
                _add(self._ranks.setdefault(key, {}), name.entity_id, SOURCES.index(name.source), name.count)
        self.keys: Sequence[str] = sorted(self._ranks)
        self._readings: dict[str, dict[str, Readings]] = {}

    def find(self, text: str, forms: Iterable[str] = FORMS) -> Readings:
        """The concepts of a name, best first, by the strictest form that finds any; empty if no form finds one."""
        for form in forms:
            if form not in self._readings:
                self._readings[form] = self._indexed(form)
            readings = self._readings[form].get(FORMS[form](text))
            if readings:
                return readings
        return ()

    def _indexed(self, form: str) -> dict[str, Readings]:
        """Index one form; names with the same key share their concepts."""
        if form == "normal":
            return {key: _ordered(ranks) for key, ranks in self._ranks.items()}
        joined: dict[str, _Ranks] = {}
        for key in self.keys:
            shape = FORMS[form](key)
            if len(shape) >= _SHORTEST:
                for id_, (source, count) in self._ranks[key].items():
                    _add(joined.setdefault(shape, {}), id_, source, count)
        return {shape: _ordered(ranks) for shape, ranks in joined.items()}


def _add(ranks: _Ranks, id_: str, source: int, count: int) -> None:
    best, total = ranks.get(id_, (source, 0))
    ranks[id_] = (min(best, source), total + count)


def _ordered(ranks: _Ranks) -> Readings:
    """Sort ids by source, then by their count in the training texts, then alphabetically."""
    return tuple(sorted(ranks, key=lambda id_: (ranks[id_][0], -ranks[id_][1], id_)))
