"""Turns the articles that support a pair in the graph into numeric features, in addition to those of the text.

A branch states in words that other articles report a pair, and the network has to learn to read the branch. These
features state the same fact as counts. The articles never include the document itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import log1p

from biorel.knowledge.hierarchy import IS_A
from biorel.records import Triple

GRAPH_FEATURES = (
    "log_articles_pair",
    "any_article_pair",
    "log_articles_head_parent_or_child_of_tail",
    "log_articles_head_related_tail",
    "log_articles_related_head_tail",
    "log_articles_head",
    "log_articles_tail",
    "log_articles_pair_over_chance",
)

_CACHED_RELATIVES = 10_000  # concepts whose relatives are kept, the most recent ones


class Support:
    """The articles of each head and tail in the curated triples, by concept id, and the relatives of each concept."""

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
        self._relatives = lru_cache(_CACHED_RELATIVES)(self._find_relatives)

    def articles(self, head_id: str, tail_id: str, doc_id: str) -> int:
        """The number of articles, except for `doc_id`, with a curated triple of this head and tail."""
        return _others(self._articles.get((head_id, tail_id), set()), doc_id)

    def features(self, head_id: str, tail_id: str, doc_id: str) -> tuple[float, ...]:
        """`GRAPH_FEATURES` of a pair, in their order; all 0 if the graph has neither concept."""
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
            log1p(_others(self._joined((head_id, tail) for tail in tails & self._relatives(tail_id)), doc_id)),
            log1p(_others(self._joined((head, tail_id) for head in heads & self._relatives(head_id)), doc_id)),
            log1p(of_head),
            log1p(of_tail),
            log1p(found) - log1p(expected),
        )

    def _find_relatives(self, id_: str) -> frozenset[str]:
        """The parents, children and siblings of a concept."""
        above = self._above.get(id_, set())
        siblings = set().union(*(self._below[parent] for parent in above))
        return frozenset((above | siblings | self._below.get(id_, set())) - {id_})

    def _joined(self, pairs: Iterable[tuple[str, str]]) -> set[str]:
        return set().union(*(self._articles[pair] for pair in pairs))


def _others(articles: set[str], doc_id: str) -> int:
    return len(articles) - (doc_id in articles)
