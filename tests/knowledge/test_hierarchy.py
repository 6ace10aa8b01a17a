"""MeSH's tree as edges, and circles among them."""

from __future__ import annotations

from biorel.knowledge.hierarchy import parent_edges, without_circles


def test_a_concept_has_a_parent_at_each_tree_number():
    places = {"d1": ("C04",), "d2": ("C04.588", "D27.1"), "d3": ("C04.588.322",), "d4": ("D27",)}
    assert list(parent_edges(places, {})) == [("d2", "d1"), ("d2", "d4"), ("d3", "d2")]


def test_a_tree_number_without_parent_is_a_root():
    assert list(parent_edges({"d1": ("A01.5",), "d2": ("B",)}, {})) == []


def test_a_supplementary_concept_is_below_its_descriptors():
    assert list(parent_edges({}, {"c1": ("d1", "d2", "d1")})) == [("c1", "d1"), ("c1", "d2")]


def test_leaves_out_and_returns_the_edge_that_closes_a_cycle():
    kept, closing = without_circles([("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")])
    assert closing == [("c", "a")]
    assert sorted(kept) == [("a", "b"), ("b", "c"), ("d", "a")]


def test_two_paths_to_one_ancestor_are_not_a_cycle():
    edges = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]
    kept, closing = without_circles(edges)
    assert (sorted(kept), closing) == (edges, [])


def test_a_concept_above_itself_is_a_cycle():
    assert without_circles([("a", "a")]) == ([], [("a", "a")])


def test_follows_a_long_chain_without_recursion():
    edges = [(str(number), str(number + 1)) for number in range(5000)]
    kept, closing = without_circles([*edges, ("5000", "0")])
    assert len(kept) == 5000
    assert closing == [("5000", "0")]
