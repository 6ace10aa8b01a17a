"""The hypernym filter (section 3.1.1) on a small tree."""

import pytest

from biorel.dataset.hypernyms import filter_hypernyms, strict_ancestors
from biorel.records import Exclusion, Pair

TREE = {
    "neoplasms": ("C04",),
    "by site": ("C04.588",),
    "lung cancer": ("C04.588.894", "C08.381"),
    "small cell": ("C04.588.894.100",),
    "lung diseases": ("C08",),
    "fibrosis": ("C23.550",),
    "tobacco smoke": ("D20.100",),
    "smoke": ("D20",),
}
ANCESTORS = strict_ancestors(TREE, {"C1": ("small cell",), "C2": ("neoplasms", "fibrosis")})


def test_ancestors_stand_above_at_any_place_of_a_concept() -> None:
    assert ANCESTORS("small cell") == {"lung cancer", "by site", "neoplasms"}
    assert ANCESTORS("lung cancer") == {"by site", "neoplasms", "lung diseases"}
    assert ANCESTORS("by site") == {"neoplasms"}
    assert ANCESTORS("unheard of") == frozenset()


def test_a_number_that_begins_alike_is_not_above() -> None:
    ancestors = strict_ancestors({"a": ("C04.5",), "b": ("C04.588",), "c": ("C0",)}, {})
    assert ancestors("b") == frozenset()


def test_two_concepts_at_one_place_are_not_above_each_other() -> None:
    ancestors = strict_ancestors({"a": ("C04.588",), "b": ("C04.588",), "top": ("C04",)}, {})
    assert ancestors("a") == ancestors("b") == {"top"}


def test_m04_supplementary_concepts_hang_below_what_they_are_mapped_to() -> None:
    assert ANCESTORS("C1") == {"small cell", "lung cancer", "by site", "neoplasms"}
    assert ANCESTORS("C2") == {"neoplasms", "fibrosis"}


def test_m04_a_top_concept_has_no_ancestor() -> None:
    assert ANCESTORS("neoplasms") == frozenset()
    assert strict_ancestors({}, {"C1": ("D1",)})("C1") == {"D1"}


@pytest.mark.parametrize(
    "mapped_to",
    [{"C1": ("C1",)}, {"C1": ("C2",), "C2": ("C1",)}, {"C1": ("C2",), "C2": ("C3",), "C3": ("C1", "C2")}],
)
def test_m04_a_circle_of_mappings_ends(mapped_to: dict[str, tuple[str, ...]]) -> None:
    for first in mapped_to:
        ancestors = strict_ancestors({}, mapped_to)
        assert ancestors(first) == set(mapped_to) - {first}
        for id_ in mapped_to:  # whatever was asked before
            assert ancestors(id_) == set(mapped_to) - {id_}


def test_a_concept_at_two_places_of_one_branch_is_not_its_own_ancestor() -> None:
    ancestors = strict_ancestors({"a": ("C04.100", "C04.100.200"), "top": ("C04",)}, {})
    assert ancestors("a") == {"top"}


def test_m01_what_is_no_tree_number_is_above_nothing() -> None:
    ancestors = strict_ancestors({"a": ("C01.100",), "b": ("@900176",), "c": ("C.01.100",), "d": ("C01",)}, {})
    assert ancestors("a") == {"d"}
    assert ancestors("b") == ancestors("c") == frozenset()


def _pair(head: str, tail: str, *relations: str, excluded_because: str = "") -> Pair:
    return Pair("9", head, "Chemical", tail, "Disease", relations, excluded_because)


def _dropped(pairs: list[Pair], sides: str) -> list[tuple[str, str]]:
    found = filter_hypernyms(pairs, ANCESTORS, sides)
    assert [(pair.head_id, pair.tail_id, pair.relations) for pair in found] == [
        (pair.head_id, pair.tail_id, pair.relations) for pair in pairs
    ]
    return [(pair.head_id, pair.tail_id) for pair in found if pair.excluded_because == Exclusion.HYPERNYM]


PAPER = [
    _pair("tobacco smoke", "lung cancer", "CID"),
    _pair("tobacco smoke", "neoplasms"),
    _pair("tobacco smoke", "by site"),
    _pair("tobacco smoke", "small cell"),
    _pair("tobacco smoke", "fibrosis"),
    _pair("aspirin", "neoplasms"),
    _pair("smoke", "lung cancer"),
    _pair("smoke", "neoplasms"),
]


def test_the_papers_example_tobacco_causes_cancer_is_no_negative() -> None:
    assert _dropped(PAPER, "tail") == [("tobacco smoke", "neoplasms"), ("tobacco smoke", "by site")]
    assert _dropped(PAPER[::-1], "tail") == [("tobacco smoke", "by site"), ("tobacco smoke", "neoplasms")]


def test_with_both_sides_a_head_above_explains_too() -> None:
    assert _dropped(PAPER, "both") == [
        ("tobacco smoke", "neoplasms"),
        ("tobacco smoke", "by site"),
        ("smoke", "lung cancer"),
        ("smoke", "neoplasms"),
    ]


def test_off_leaves_all() -> None:
    assert filter_hypernyms(PAPER, ANCESTORS, "off") == tuple(PAPER)


def test_a_positive_is_never_dropped() -> None:
    pairs = [_pair("aspirin", "lung cancer", "CID"), _pair("aspirin", "neoplasms", "CID")]
    for sides in ("tail", "both"):
        assert filter_hypernyms(pairs, ANCESTORS, sides) == tuple(pairs)


def test_a_negative_explains_nothing() -> None:
    assert _dropped([_pair("aspirin", "lung cancer"), _pair("aspirin", "neoplasms")], "both") == []


def test_an_earlier_reason_stands() -> None:
    pairs = [_pair("aspirin", "lung cancer", "CID"), _pair("aspirin", "neoplasms", excluded_because="inferred")]
    assert [pair.excluded_because for pair in filter_hypernyms(pairs, ANCESTORS, "tail")] == ["", "inferred"]
