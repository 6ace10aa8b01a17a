"""What the articles of a graph say of a pair, as numbers that stand beside the hand-made features of the text.

A branch tells a network in words that CTD has a pair from other articles; it has to learn to read them. Here
the same is told as counts. What the document itself was curated with is never counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import log1p

from biorel.knowledge.hierarchy import IS_A
from biorel.records import Triple

GRAPH_FEATURES = (
    "log articles that say it of the pair",
    "an article says it of the pair",
    "log articles that say it of the head and what stands right above or below the tail",
    "log articles that say it of the head and those, or what shares one above with the tail",
    "log articles that say it of what stands right above, below or beside the head, and the tail",
    "log articles that say it of the head and anything",
    "log articles that say it of the tail and anything",
    "log articles of the pair, less the logarithm of what chance would give",
)

_FAMILIES = 10_000  # that are kept, of the concepts asked for last


class Support:
    """The articles behind each head and tail of the curated triples, by concept id, and who stands near whom."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        self._articles: dict[tuple[str, str], set[str]] = {}
        self._tails: dict[str, set[str]] = {}
        self._heads: dict[str, set[str]] = {}
        self._above: dict[str, set[str]] = {}
        self._below: dict[str, set[str]] = {}
        for triple in triples:
            head, tail = triple.subject_id, triple.object_id
            if triple.predicate == IS_A:
                self._above.setdefault(head, set()).add(tail)
                self._below.setdefault(tail, set()).add(head)
            elif triple.pmids:
                self._articles.setdefault((head, tail), set()).update(triple.pmids)
                self._tails.setdefault(head, set()).add(tail)
                self._heads.setdefault(tail, set()).add(head)
        self._of_head = {head: self._joined((head, tail) for tail in tails) for head, tails in self._tails.items()}
        self._of_tail = {tail: self._joined((head, tail) for head in heads) for tail, heads in self._heads.items()}
        self._total = len(set().union(*self._of_head.values()))
        self._family = lru_cache(_FAMILIES)(self._find_family)

    def articles(self, head_id: str, tail_id: str, doc_id: str) -> int:
        """The articles other than this one in which the graph's curated triples have this head and this tail."""
        return _others(self._articles.get((head_id, tail_id), set()), doc_id)

    def features(self, head_id: str, tail_id: str, doc_id: str) -> tuple[float, ...]:
        """`GRAPH_FEATURES` of a pair, in their order; all 0 where the graph knows neither concept."""
        found = self.articles(head_id, tail_id, doc_id)
        tails, heads = self._tails.get(head_id, set()), self._heads.get(tail_id, set())
        near = (self._above.get(tail_id, set()) | self._below.get(tail_id, set())) & tails
        of_head = _others(self._of_head.get(head_id, set()), doc_id)
        of_tail = _others(self._of_tail.get(tail_id, set()), doc_id)
        expected = of_head * of_tail / self._total if self._total else 0.0
        return (
            log1p(found),
            float(found > 0),
            log1p(_others(self._joined((head_id, tail) for tail in near), doc_id)),
            log1p(_others(self._joined((head_id, tail) for tail in tails & self._family(tail_id)), doc_id)),
            log1p(_others(self._joined((head, tail_id) for head in heads & self._family(head_id)), doc_id)),
            log1p(of_head),
            log1p(of_tail),
            log1p(found) - log1p(expected),
        )

    def _find_family(self, id_: str) -> frozenset[str]:
        """What stands right above and below a concept, and what else stands right below those above."""
        above = self._above.get(id_, set())
        beside = set().union(*(self._below[parent] for parent in above))
        return frozenset((above | beside | self._below.get(id_, set())) - {id_})

    def _joined(self, pairs: Iterable[tuple[str, str]]) -> set[str]:
        return set().union(*(self._articles[pair] for pair in pairs))


def _others(articles: set[str], doc_id: str) -> int:
    return len(articles) - (doc_id in articles)
