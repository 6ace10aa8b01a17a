"""Labels from curations: positives, NULL, and what is neither."""

import pytest

from biorel.dataset.supervise import not_mentioned, supervise
from biorel.records import Curation, Exclusion, Pair
from tests.builders import relation, schema

CTD = schema(
    relation("chem_marker", "Chemical", "Disease", "marker/mechanism"),
    relation("chem_therapy", "Chemical", "Disease", "therapeutic"),
    relation("gene_marker", "Gene", "Disease", "marker/mechanism"),
    relation("transport", "Chemical", "Gene", "affects^transport", "increases^transport"),
    relation("expression", "Chemical", "Gene", "increases^expression"),
)
TYPES = {"C": "Chemical", "D": "Disease", "G": "Gene"}


def _pair(head: str, tail: str) -> Pair:
    return Pair("9", head, TYPES[head[0]], tail, TYPES[tail[0]])


def _fact(head: str, word: str, tail: str, *, asserted: bool = True, typed: bool = True) -> Curation:
    types = (TYPES[head[0]], TYPES[tail[0]]) if typed else ("", "")
    return Curation("9", types[0], head, word, types[1], tail, asserted)


PAIRS = (_pair("C1", "D1"), _pair("C1", "D2"), _pair("C1", "G1"), _pair("G1", "D1"))


def _labels(*curations: Curation, exclude_inferred: bool = True) -> list[tuple[tuple[str, ...], str]]:
    found = supervise(PAIRS, curations, CTD, exclude_inferred=exclude_inferred)
    assert [(pair.head_id, pair.tail_id) for pair in found] == [(pair.head_id, pair.tail_id) for pair in PAIRS]
    return [(pair.relations, pair.excluded_because) for pair in found]


NULL = ((), "")


def test_a_curated_pair_is_positive_and_the_others_are_null() -> None:
    assert _labels(_fact("C1", "therapeutic", "D2")) == [NULL, (("chem_therapy",), ""), NULL, NULL]
    assert _labels() == [NULL] * 4


def test_every_relation_of_a_pair_is_kept_in_the_order_of_the_schema() -> None:
    facts = [
        _fact("C1", "increases^expression", "G1"),
        _fact("C1", "increases^transport", "G1"),
        _fact("C1", "affects^transport", "G1"),
        _fact("C1", "increases^expression", "G1"),
    ]
    for order in (facts, facts[::-1]):
        assert _labels(*order) == [NULL, NULL, (("transport", "expression"), ""), NULL]


def test_a_word_means_what_it_means_between_these_types() -> None:
    labels = _labels(_fact("C1", "marker/mechanism", "D1"), _fact("G1", "marker/mechanism", "D1"))
    assert labels == [(("chem_marker",), ""), NULL, NULL, (("gene_marker",), "")]


def test_a_fact_about_an_entity_without_a_mention_labels_nothing() -> None:
    assert _labels(_fact("C9", "therapeutic", "D1"), _fact("C1", "therapeutic", "D9")) == [NULL] * 4


@pytest.mark.parametrize("typed", [True, False])
def test_head_and_tail_in_the_other_order_are_understood(typed: bool) -> None:
    assert _labels(_fact("D1", "marker/mechanism", "C1", typed=typed))[0] == (("chem_marker",), "")


def test_a_fact_of_other_types_is_another_fact() -> None:
    fact = Curation("9", "Gene", "C1", "therapeutic", "Disease", "D1")
    assert _labels(fact) == [NULL] * 4


def test_a_pair_curated_only_with_dropped_words_is_neither() -> None:
    labels = _labels(_fact("C1", "decreases^expression", "G1"), _fact("C1", "therapeutic", "D1"))
    assert labels == [(("chem_therapy",), ""), NULL, ((), Exclusion.UNMAPPED), NULL]
    labels = _labels(_fact("C1", "decreases^expression", "G1"), _fact("C1", "increases^expression", "G1"))
    assert labels[2] == (("expression",), "")


def test_c02_an_inferred_pair_is_no_positive_and_no_clean_negative() -> None:
    asserted, inferred = _fact("C1", "marker/mechanism", "D1"), _fact("C1", "", "D2", asserted=False)
    assert _labels(asserted, inferred) == [(("chem_marker",), ""), ((), Exclusion.INFERRED), NULL, NULL]
    assert _labels(asserted, inferred, exclude_inferred=False) == [(("chem_marker",), ""), NULL, NULL, NULL]


def test_c02_what_is_inferred_and_asserted_is_positive() -> None:
    asserted = _fact("C1", "marker/mechanism", "D1")
    inferred = _fact("C1", "marker/mechanism", "D1", asserted=False)
    for order in ((asserted, inferred), (inferred, asserted)):
        assert _labels(*order)[0] == (("chem_marker",), "")
    assert _labels(inferred)[0] == ((), Exclusion.INFERRED)


GENES = (Pair("9", "G1", "Gene", "G2", "Gene"),)
BINDS = schema(relation("binds", "Gene", "Gene", symmetric=True))


def test_d03_a_symmetric_fact_in_either_order_is_one_label() -> None:
    for facts in ([("G1", "G2")], [("G2", "G1")], [("G1", "G2"), ("G2", "G1")]):
        found = supervise(GENES, [_fact(a, "binds", b) for a, b in facts], BINDS, exclude_inferred=True)
        assert [pair.relations for pair in found] == [("binds",)]


def test_d03_among_directed_relations_a_symmetric_one_holds_both_ways() -> None:
    mixed = schema(relation("activates", "Gene", "Gene"), relation("binds", "Gene", "Gene", symmetric=True))
    both = (*GENES, Pair("9", "G2", "Gene", "G1", "Gene"))
    for facts in ([("G1", "G2")], [("G2", "G1")], [("G1", "G2"), ("G2", "G1")]):
        curations = [_fact("G2", "activates", "G1"), *(_fact(a, "binds", b) for a, b in facts)]
        found = supervise(both, curations, mixed, exclude_inferred=True)
        assert [pair.relations for pair in found] == [("binds",), ("activates", "binds")]


def test_facts_that_no_candidate_can_answer_are_told() -> None:
    facts = [
        _fact("C1", "therapeutic", "D1"),  # a candidate
        _fact("C9", "therapeutic", "D1", typed=False),
        _fact("C9", "unheard of", "D2"),
        _fact("C9", "therapeutic", "D3", asserted=False),
        _fact("C9", "therapeutic", "D1", typed=False),
    ]
    assert not_mentioned("9", PAIRS, facts, CTD) == (
        Pair("9", "C9", "Chemical", "D1", "Disease", ("chem_therapy",), Exclusion.NOT_MENTIONED),
    )


def test_a_missed_fact_has_the_label_of_its_types() -> None:
    facts = [_fact("G9", "marker/mechanism", "D1"), _fact("C9", "marker/mechanism", "D1")]
    assert not_mentioned("9", PAIRS, facts, CTD) == (
        Pair("9", "G9", "Gene", "D1", "Disease", ("gene_marker",), Exclusion.NOT_MENTIONED),
        Pair("9", "C9", "Chemical", "D1", "Disease", ("chem_marker",), Exclusion.NOT_MENTIONED),
    )
    turned = _fact("D1", "marker/mechanism", "G9")
    assert not_mentioned("9", PAIRS, [turned, facts[0]], CTD) == (
        Pair("9", "G9", "Gene", "D1", "Disease", ("gene_marker",), Exclusion.NOT_MENTIONED),
    )
    assert not_mentioned("9", PAIRS, [_fact("C9", "therapeutic", "G9")], CTD) == ()


def test_a_missed_pair_has_all_its_relations_once() -> None:
    words = ("increases^expression", "affects^transport", "increases^transport")
    (missed,) = not_mentioned("9", PAIRS, [_fact("C9", word, "G1") for word in words], CTD)
    assert missed.relations == ("expression", "transport")


def test_d03_a_missed_symmetric_fact_is_one_fact_in_either_order() -> None:
    facts = [_fact("G9", "binds", "G1"), _fact("G1", "binds", "G9")]
    for order in (facts, facts[::-1], facts[:1], facts[1:]):
        assert not_mentioned("9", GENES, order, BINDS) == (
            Pair("9", "G1", "Gene", "G9", "Gene", ("binds",), Exclusion.NOT_MENTIONED),
        )
