"""The support that a graph's articles give to a pair."""

from __future__ import annotations

from math import log, log1p

import pytest

from biorel.knowledge.support import GRAPH_FEATURES, Support
from biorel.records import Triple


def curated(head: str, tail: str, *pmids: str, predicate: str = "causes") -> Triple:
    return Triple(head, predicate, tail, head, tail, "ctd", pmids)


def is_a(below: str, above: str) -> Triple:
    return Triple(below, "is_a", above, below, above, "mesh")


# liver disease > hepatitis > hepatitis b; liver disease > cirrhosis; statins > drug, drug2
TREE = [
    is_a("hepatitis", "liver disease"),
    is_a("cirrhosis", "liver disease"),
    is_a("hepatitis b", "hepatitis"),
    is_a("drug", "statins"),
    is_a("drug2", "statins"),
]
CURATED = [
    curated("drug", "hepatitis", "1", "2"),
    curated("drug", "liver disease", "3"),
    curated("drug", "hepatitis b", "3", "4"),
    curated("drug", "cirrhosis", "5"),
    curated("drug2", "hepatitis", "6", "7", "8"),
    curated("drug", "nausea", "9"),
]


def features(head: str, tail: str, doc_id: str = "0") -> dict[str, float]:
    return dict(zip(GRAPH_FEATURES, Support([*TREE, *CURATED]).features(head, tail, doc_id), strict=True))


def test_every_feature_of_a_pair():
    found = list(features("drug", "hepatitis").values())
    head, tail, all_articles = {"1", "2", "3", "4", "5", "9"}, {"1", "2", "6", "7", "8"}, 9
    expected = [
        log1p(2),
        1.0,
        log1p(2),  # 3, 4
        log1p(3),  # 3, 4, 5
        log1p(3),  # 6, 7, 8
        log1p(len(head)),
        log1p(len(tail)),
        log(3) - log1p(len(head) * len(tail) / all_articles),
    ]
    assert found == pytest.approx(expected)


def test_the_document_itself_is_not_counted():
    assert features("drug", "hepatitis", "1") != features("drug", "hepatitis")
    alone = Support([curated("drug", "nausea", "9"), curated("drug", "rash", "9")])
    assert alone.features("drug", "nausea", "9") == (0.0,) * len(GRAPH_FEATURES)
    assert alone.articles("drug", "nausea", "9") == 0


def test_an_article_with_two_predicates_is_counted_once():
    support = Support([curated("a", "b", "1", "2"), curated("a", "b", "2", "3", predicate="treats")])
    assert [support.articles("a", "b", doc_id) for doc_id in ("9", "2")] == [3, 2]
    assert support.articles("b", "a", "9") == 0


@pytest.mark.parametrize("triples", [[], TREE, [*TREE, *CURATED]])
def test_unknown_concepts_have_zero_features(triples):
    assert Support(triples).features("x", "y", "1") == (0.0,) * len(GRAPH_FEATURES)


def test_support_of_a_related_tail_is_not_support_of_the_pair():
    found = features("drug2", "liver disease")
    assert found["any_article_pair"] == 0
    assert found["log_articles_head_parent_or_child_of_tail"] == log1p(3)


def test_a_cycle_in_the_hierarchy_ends():
    support = Support([is_a("a", "b"), is_a("b", "a"), curated("c", "a", "1"), curated("c", "b", "2")])
    assert support.features("c", "a", "0")[2:4] == (log1p(1), log1p(1))
