"""Which pairs a document offers."""

import pytest

from biorel.dataset.candidates import UNLINKED_ID, EntityKey, candidates, entities, is_symmetric, link
from biorel.records import Pair
from tests.builders import mention, relation, schema

CTD = schema(
    relation("marker", "Chemical", "Disease"),
    relation("therapeutic", "Chemical", "Disease"),
    relation("activity", "Chemical", "Gene"),
    relation("gene_marker", "Gene", "Disease"),
)
BINDS = schema(relation("binds", "Gene", "Gene", symmetric=True))


def _keys(*pairs: tuple[str, str]) -> tuple[EntityKey, ...]:
    return tuple(EntityKey(id_, type_) for id_, type_ in pairs)


def _ids(pairs: tuple[Pair, ...]) -> list[tuple[str, str]]:
    return [(pair.head_id, pair.tail_id) for pair in pairs]


def test_every_pair_of_the_schemas_types_and_no_other() -> None:
    keys = _keys(("C1", "Chemical"), ("D1", "Disease"), ("C2", "Chemical"), ("G1", "Gene"), ("X", "Species"))
    found = candidates("9", keys, CTD)
    assert set(_ids(found)) == {("C1", "D1"), ("C2", "D1"), ("C1", "G1"), ("C2", "G1"), ("G1", "D1")}
    assert len(found) == 5
    assert found[0] == Pair("9", "C1", "Chemical", "D1", "Disease", (), "")
    assert candidates("9", (), CTD) == ()


def test_d05_one_pair_however_often_its_entities_are_mentioned() -> None:
    mentions = [mention(3 * n, 3 * n + 2, "Chemical", "C1") for n in range(3)]
    mentions += [mention(20 + 3 * n, 22 + 3 * n, "Disease", "D1") for n in range(4)]
    assert _ids(candidates("9", entities(link(mentions, "drop")), CTD)) == [("C1", "D1")]


def test_d03_a_symmetric_pair_is_one_pair_with_its_ids_sorted() -> None:
    for keys in (_keys(("G2", "Gene"), ("G1", "Gene")), _keys(("G1", "Gene"), ("G2", "Gene"))):
        assert _ids(candidates("9", keys, BINDS)) == [("G1", "G2")]


def test_a_directed_pair_of_one_type_is_two() -> None:
    keys = _keys(("G2", "Gene"), ("G1", "Gene"))
    for relations in (
        [relation("activates", "Gene", "Gene")],
        [relation("activates", "Gene", "Gene"), relation("binds", "Gene", "Gene", symmetric=True)],
    ):
        assert set(_ids(candidates("9", keys, schema(*relations)))) == {("G1", "G2"), ("G2", "G1")}


def test_symmetric_means_every_relation_between_the_types() -> None:
    mixed = schema(relation("activates", "Gene", "Gene"), relation("binds", "Gene", "Gene", symmetric=True))
    assert is_symmetric(BINDS, "Gene", "Gene")
    assert not is_symmetric(mixed, "Gene", "Gene")
    assert not is_symmetric(schema(relation("binds", "Chemical", "Gene", symmetric=True)), "Chemical", "Gene")


def test_an_entity_is_no_pair_with_itself() -> None:
    assert candidates("9", _keys(("G1", "Gene")), BINDS) == ()
    # the neighbour: one id that a tagger gave two types
    assert candidates("9", _keys(("M1", "Chemical"), ("M1", "Disease")), CTD) == ()


def test_one_id_of_two_types_makes_one_pair_of_the_first_type_that_fits() -> None:
    """Pairs are keyed by document, head id and tail id."""
    keys = _keys(("M1", "Gene"), ("M1", "Chemical"), ("D1", "Disease"))
    assert candidates("9", keys, CTD) == (Pair("9", "M1", "Chemical", "D1", "Disease"),)


def test_entities_come_in_the_order_of_their_first_mention() -> None:
    mentions = [
        mention(9, 10, "Gene", "G2"),
        mention(0, 1, "Gene", "G1"),
        mention(3, 4, "Gene", "G2"),
        mention(5, 6, "Disease", "G2"),
        mention(7, 8, "Gene", None),
    ]
    assert entities(mentions) == _keys(("G2", "Gene"), ("G1", "Gene"), ("G2", "Disease"))


LOOSE = (
    mention(0, 1, "Disease", "D1"),
    mention(2, 3, "Chemical", None),
    mention(4, 5, "Disease", None),
    mention(6, 7, "Chemical", None),
)


def test_p06_mentions_without_a_concept_are_no_entity() -> None:
    assert link(LOOSE, "drop") == LOOSE[:1]
    assert entities(link(LOOSE, "drop")) == _keys(("D1", "Disease"))


def test_the_papers_counts_merge_them_into_one_of_the_first_ones_type() -> None:
    merged = link(LOOSE, "merge")
    assert [(m.start, m.entity_id, m.type) for m in merged] == [
        (0, "D1", "Disease"),
        (2, UNLINKED_ID, "Chemical"),
        (4, UNLINKED_ID, "Chemical"),
        (6, UNLINKED_ID, "Chemical"),
    ]
    assert entities(merged) == _keys(("D1", "Disease"), (UNLINKED_ID, "Chemical"))


@pytest.mark.parametrize("unlinked", ["drop", "merge"])
def test_linked_mentions_are_left_as_they_are(unlinked: str) -> None:
    assert link(LOOSE[:1], unlinked) == LOOSE[:1]
    assert link((), unlinked) == ()
