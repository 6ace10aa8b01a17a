"""Which triples grow on an entity, by the stated rule."""

from __future__ import annotations

import time

import pytest

from biorel.knowledge.graph import Graph, Subject
from biorel.records import Triple


def triple(subject: str, object_: str, *pmids: str, predicate: str = "causes") -> Triple:
    """A curated triple; ids are the names behind `MESH:`."""
    return Triple(subject, predicate, object_, f"MESH:{subject}", f"MESH:{object_}", "ctd", pmids)


def objects(graph: Graph, *subjects: Subject, doc_id: str = "0", limit: int = 9) -> list[str]:
    """The objects on the first of these subjects."""
    return [one.object for one in graph.branches(subjects, doc_id, limit)[0]]


ASPIRIN = Subject("MESH:aspirin", ("ASA",))


def test_orders_triples_by_articles_then_alphabetically():
    graph = Graph([triple("aspirin", "c", "1"), triple("aspirin", "b", "1", "2"), triple("aspirin", "a", "3")])
    assert objects(graph, ASPIRIN) == ["b", "a", "c"]


def test_prefers_objects_that_the_document_mentions():
    graph = Graph([triple("aspirin", "a", "1", "2", "3"), triple("aspirin", "b", "1")])
    assert objects(graph, ASPIRIN, Subject("MESH:b", ("bee",))) == ["b", "a"]
    assert objects(graph, ASPIRIN, Subject("", ("B",))) == ["b", "a"]


def test_no_more_branches_than_the_limit():
    graph = Graph([triple("aspirin", object_, "1") for object_ in "abcdef"])
    assert objects(graph, ASPIRIN, limit=2) == ["a", "b"]
    assert objects(graph, ASPIRIN, limit=0) == []


def test_skips_triples_of_this_article_alone():
    graph = Graph([triple("aspirin", "a", "7"), triple("aspirin", "b", "7", "8")])
    assert objects(graph, ASPIRIN, doc_id="7") == ["b"]
    assert objects(graph, ASPIRIN, Subject("MESH:a", ()), doc_id="7") == ["b"]
    assert objects(graph, ASPIRIN, doc_id="8") == ["b", "a"]


def test_finds_a_subject_by_id_or_by_name():
    graph = Graph([triple("aspirin", "a", "1"), Triple("Acid  Red", "is_a", "dye", "", "", "spo")])
    assert objects(graph, Subject("MESH:aspirin", ("acid red",))) == ["a"]
    assert objects(graph, Subject("MESH:D9", ("ACID red",))) == ["dye"]
    assert objects(graph, Subject("", ("acid red", "Acid Red"))) == ["dye"]
    assert objects(graph, Subject("MESH:D9", ("red",))) == []


def test_each_subject_has_its_own_branches():
    graph = Graph([triple("a", "b", "1"), triple("b", "a", "1")])
    found = graph.branches([Subject("MESH:b", ()), Subject("MESH:x", ()), Subject("MESH:a", ())], "0", 1)
    assert [[one.object for one in branches] for branches in found] == [["a"], [], ["b"]]


@pytest.mark.parametrize("limit", [1, 4])
def test_a_subject_with_10_000_triples_costs_no_more_than_one_with_few(limit):
    graph = Graph([triple("aspirin", f"{number:05}", "1") for number in range(10_000)])
    others = [Subject(f"MESH:{number:05}", ()) for number in range(9_000, 9_020)]
    expected = [f"{number:05}" for number in range(9_000, 9_000 + limit)]
    began = time.process_time()
    for _ in range(100):
        assert objects(graph, ASPIRIN, *others, limit=limit) == expected
    assert time.process_time() - began < 2
