"""The collapse of CTD's interaction types (section 3.3.1), on hand-made counts."""

from __future__ import annotations

import pytest

from biorel.dataset.derive_schema import derive, roll_up, uncollapsed_schema
from biorel.dataset.relation_schema import RelationSchema
from biorel.records import Curation

PARENTS = {
    "phosphorylation": "metabolic processing",
    "metabolic processing": "",
    "glycation": "glycosylation",
    "glycosylation": "metabolic processing",
    "a": "b",
    "b": "c",
    "c": "a",
    "self": "self",
}


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("increases^phosphorylation", "increases^metabolic processing"),
        ("affects^glycation", "affects^metabolic processing"),  # two steps up
        ("decreases^metabolic processing", "decreases^metabolic processing"),
        ("increases^unheard of", "increases^unheard of"),
        ("marker/mechanism", "marker/mechanism"),
        ("phosphorylation", "phosphorylation"),
        ("increases^self", "increases^self"),
        ("", ""),
    ],
)
def test_a_type_is_rolled_up_to_its_highest_parent(action: str, expected: str) -> None:
    assert roll_up(action, PARENTS) == expected


@pytest.mark.parametrize("type_", ["a", "b", "c"])
def test_a_cycle_of_parents_ends(type_: str) -> None:
    assert roll_up(f"affects^{type_}", PARENTS).startswith("affects^")


def test_the_uncollapsed_schema_has_each_asserted_term_of_each_pair_type() -> None:
    curations = [
        Curation("1", "Chemical", "C", "increases^glycation", "Gene", "G"),
        Curation("1", "Chemical", "C", "increases^phosphorylation", "Gene", "G"),  # the same parent
        Curation("2", "Chemical", "C", "therapeutic", "Disease", "D"),
        Curation("2", "Chemical", "C", "marker/mechanism", "Disease", "D", asserted=False),
        Curation("2", "Disease", "D", "therapeutic", "Gene", "G"),  # no pair type of CTD
    ]
    assert uncollapsed_schema(curations, PARENTS).labels == (
        "Chemical therapeutic Disease",
        "Chemical increases^metabolic processing Gene",
    )


def _gene_counts(**counts: int) -> dict[tuple[str, str, str], int]:
    return {("Chemical", term.replace("__", "^"), "Gene"): count for term, count in counts.items()}


def _mapping(schema: RelationSchema) -> dict[str, tuple[str, ...]]:
    return {relation.name: relation.sources for relation in schema.relations}


def test_increases_and_decreases_are_merged_into_a_more_frequent_affects() -> None:
    schema = derive(_gene_counts(affects__transport=60, increases__transport=30, decreases__transport=29), 0.0)
    assert _mapping(schema) == {
        "chemical_gene:affects_transport": ("affects^transport", "decreases^transport", "increases^transport")
    }
    assert schema.label("decreases^transport", "Chemical", "Gene") == "chemical_gene:affects_transport"


@pytest.mark.parametrize("affects", [59, 40, 1])
def test_a_less_frequent_affects_is_dropped(affects: int) -> None:
    """It must exceed increases and decreases together: 59 does not, though it exceeds either."""
    schema = derive(_gene_counts(affects__expression=affects, increases__expression=30, decreases__expression=29), 0.0)
    assert _mapping(schema) == {
        "chemical_gene:increases_expression": ("increases^expression",),
        "chemical_gene:decreases_expression": ("decreases^expression",),
    }
    assert schema.label("affects^expression", "Chemical", "Gene") is None


def test_a_type_needs_neither_affects_nor_a_direction() -> None:
    schema = derive(_gene_counts(affects__cotreatment=3, increases__reaction=2), 0.0)
    assert _mapping(schema) == {
        "chemical_gene:affects_cotreatment": ("affects^cotreatment",),
        "chemical_gene:increases_reaction": ("increases^reaction",),
    }


def test_the_rule_is_applied_to_each_pair_type_separately() -> None:
    counts = _gene_counts(affects__activity=5, increases__activity=9)
    counts |= {("Gene", "affects^activity", "Disease"): 9, ("Gene", "increases^activity", "Disease"): 5}
    schema = derive(counts, 0.0)
    assert set(schema.labels) == {"chemical_gene:increases_activity", "gene_disease:affects_activity"}


def test_rare_labels_are_dropped_and_the_others_ordered_by_support() -> None:
    counts = {
        ("Chemical", "marker/mechanism", "Disease"): 500,
        ("Chemical", "therapeutic", "Disease"): 300,
        ("Gene", "marker/mechanism", "Disease"): 195,
        ("Gene", "therapeutic", "Disease"): 4,
        ("Chemical", "increases^binding", "Gene"): 5,
        ("Chemical", "affects^binding", "Gene"): 5,  # dropped: not counted among the positives
    }
    # 1004 positives in all; 0.5 % of them is 5.02
    assert derive(counts, 0.005).labels == (
        "chemical_disease:marker/mechanism",
        "chemical_disease:therapeutic",
        "gene_disease:marker/mechanism",
    )
    # 0.4 % is 4.016: binding is kept, gene therapeutic dropped
    assert derive(counts, 0.004).labels[3:] == ("chemical_gene:increases_binding",)
    assert derive(counts, 0.0).labels[3:] == ("chemical_gene:increases_binding", "gene_disease:therapeutic")


def test_the_share_is_taken_after_merging() -> None:
    counts = _gene_counts(affects__transport=6, increases__transport=2, decreases__transport=2)
    counts |= _gene_counts(increases__expression=90)
    assert derive(counts, 0.1).labels == ("chemical_gene:increases_expression", "chemical_gene:affects_transport")


def test_d04_labels_depend_on_the_counts_but_not_on_their_order() -> None:
    counts = _gene_counts(increases__a=3, increases__b=3, affects__c=3, decreases__a=3, affects__b=1)
    reverse = dict(reversed(counts.items()))
    assert derive(counts, 0.0) == derive(reverse, 0.0)
    assert derive(counts, 0.0).labels == (
        "chemical_gene:affects_c",
        "chemical_gene:decreases_a",
        "chemical_gene:increases_a",
        "chemical_gene:increases_b",
    )


def test_no_counts_give_no_label() -> None:
    assert derive({}, 0.005).labels == ()
