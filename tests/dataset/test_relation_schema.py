"""Relation schemas, and the collapse of CTD's interaction types (section 3.3.1) on counts made by hand."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biorel.dataset.relation_schema import (
    RelationSchema,
    RelationType,
    derive,
    load_schema,
    pair_type_name,
    roll_up,
    schema_toml,
)
from biorel.errors import ConfigError, InputError
from tests.builders import RESOURCES, relation, schema

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
def test_a_circle_of_parents_ends(type_: str) -> None:
    assert roll_up(f"affects^{type_}", PARENTS).startswith("affects^")


def _gene_counts(**counts: int) -> dict[tuple[str, str, str], int]:
    return {("Chemical", word.replace("__", "^"), "Gene"): count for word, count in counts.items()}


def _mapping(found: RelationSchema) -> dict[str, tuple[str, ...]]:
    return {relation.name: relation.sources for relation in found.relations}


def test_where_affects_is_more_common_increases_and_decreases_join_it() -> None:
    found = derive(_gene_counts(affects__transport=60, increases__transport=30, decreases__transport=29), 0.0)
    assert _mapping(found) == {
        "chemical_gene:affects_transport": ("affects^transport", "decreases^transport", "increases^transport")
    }
    assert found.label("decreases^transport", "Chemical", "Gene") == "chemical_gene:affects_transport"


@pytest.mark.parametrize("affects", [59, 40, 1])
def test_where_affects_is_not_more_common_it_is_dropped(affects: int) -> None:
    """More common than increases and decreases together: 59 is not, though it is more than either."""
    found = derive(_gene_counts(affects__expression=affects, increases__expression=30, decreases__expression=29), 0.0)
    assert _mapping(found) == {
        "chemical_gene:increases_expression": ("increases^expression",),
        "chemical_gene:decreases_expression": ("decreases^expression",),
    }
    assert found.label("affects^expression", "Chemical", "Gene") is None


def test_a_type_with_affects_alone_keeps_it_and_one_without_needs_none() -> None:
    found = derive(_gene_counts(affects__cotreatment=3, increases__reaction=2), 0.0)
    assert _mapping(found) == {
        "chemical_gene:affects_cotreatment": ("affects^cotreatment",),
        "chemical_gene:increases_reaction": ("increases^reaction",),
    }


def test_the_rule_is_applied_to_each_pair_of_types_by_itself() -> None:
    counts = _gene_counts(affects__activity=5, increases__activity=9)
    counts |= {("Gene", "affects^activity", "Disease"): 9, ("Gene", "increases^activity", "Disease"): 5}
    found = derive(counts, 0.0)
    assert set(found.labels) == {"chemical_gene:increases_activity", "gene_disease:affects_activity"}


def test_labels_below_the_share_are_dropped_and_the_rest_ordered_by_support() -> None:
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
    # 0.4 % is 4.016: binding stays, gene therapeutic goes
    assert derive(counts, 0.004).labels[3:] == ("chemical_gene:increases_binding",)
    assert derive(counts, 0.0).labels[3:] == ("chemical_gene:increases_binding", "gene_disease:therapeutic")


def test_a_share_is_of_the_joined_support() -> None:
    counts = _gene_counts(affects__transport=6, increases__transport=2, decreases__transport=2)
    counts |= _gene_counts(increases__expression=90)
    assert derive(counts, 0.1).labels == ("chemical_gene:increases_expression", "chemical_gene:affects_transport")


def test_d04_labels_hang_on_the_counts_and_not_on_their_order() -> None:
    counts = _gene_counts(increases__a=3, increases__b=3, affects__c=3, decreases__a=3, affects__b=1)
    turned = dict(reversed(counts.items()))
    assert derive(counts, 0.0) == derive(turned, 0.0)
    assert derive(counts, 0.0).labels == (
        "chemical_gene:affects_c",
        "chemical_gene:decreases_a",
        "chemical_gene:increases_a",
        "chemical_gene:increases_b",
    )


def test_nothing_counted_is_no_label() -> None:
    assert derive({}, 0.005).labels == ()


def test_a_schema_is_asked_by_word_and_types() -> None:
    found = schema(
        relation("chem", "Chemical", "Disease", "marker", "CID"),
        relation("gene", "Gene", "Disease", "marker"),
        relation("therapy", "Chemical", "Disease", "therapeutic"),
    )
    assert found.labels == ("chem", "gene", "therapy")
    assert found.pair_types == (("Chemical", "Disease"), ("Gene", "Disease"))
    assert found.label("marker", "Gene", "Disease") == "gene"
    assert found.label("CID", "Chemical", "Disease") == "chem"
    assert found.label("CID", "Gene", "Disease") is None
    assert found.label("marker", "Disease", "Chemical") is None
    assert found.label("mark", "Chemical", "Disease") is None
    assert pair_type_name("Chemical", "Disease") == "chemical_disease"


TABLE_6 = {
    ("Chemical", "Disease"): ("marker/mechanism", "therapeutic"),
    ("Gene", "Disease"): ("marker/mechanism", "therapeutic"),
    ("Chemical", "Gene"): (
        "increases^expression",
        "increases^metabolic_processing",
        "decreases^expression",
        "increases^activity",
        "affects^response_to_substance",
        "decreases^activity",
        "affects^transport",
        "increases^reaction",
        "decreases^reaction",
        "decreases^metabolic_processing",
    ),
}


@pytest.mark.parametrize(("name", "rows"), [("ctd14", 14), ("ctd13", 13)])
def test_the_shipped_schemas_are_the_rows_of_table_6(name: str, rows: int) -> None:
    found = load_schema(RESOURCES / "relations" / f"{name}.toml")
    labels = {found.label(word, *types) for types, words in TABLE_6.items() for word in words}
    dropped = found.label("therapeutic", "Gene", "Disease") is None
    assert dropped == (name == "ctd13")
    assert labels - {None} == set(found.labels)
    assert len(found.labels) == rows
    for word in ("affects^expression", "affects^activity", "affects^reaction", "increases^binding"):
        assert found.label(word, "Chemical", "Gene") is None
    for degree in ("increases", "decreases"):
        assert found.label(f"{degree}^transport", "Chemical", "Gene") == "chemical_gene:affects_transport"


def test_the_shipped_cdr_schema_has_one_relation() -> None:
    found = load_schema(RESOURCES / "relations" / "cdr.toml")
    assert found.label("CID", "Chemical", "Disease") == "chemical_induced_disease"
    assert len(found.labels) == 1


def _file(tmp_path: Path, content: str) -> Path:
    path = tmp_path / "schema.toml"
    path.write_text(content, encoding="utf-8")
    return path


def test_a_schema_file_is_read_back(tmp_path: Path) -> None:
    for given_schema in (
        derive(_gene_counts(affects__transport=60, increases__transport=30, increases__expression=9), 0.0),
        schema(
            relation("binds", "Gene", "Gene", "binds", "β^x", symmetric=True), relation("treats", "Drug", "Disease")
        ),
    ):
        assert load_schema(_file(tmp_path, schema_toml(given_schema))) == given_schema


WORDS = st.text(min_size=1, max_size=8)


@given(WORDS, st.lists(WORDS, min_size=1, max_size=3), st.booleans())
@settings(max_examples=80, deadline=None)
def test_any_word_of_a_source_survives_the_file(tmp_path_factory, name: str, words: list[str], symmetric: bool) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    given_schema = RelationSchema(
        name, (RelationType(name=name, head=name, tail=words[0], sources=tuple(words), symmetric=symmetric),)
    )
    path.write_bytes(schema_toml(given_schema).encode("utf-8"))
    assert load_schema(path) == given_schema


def test_every_fault_of_a_schema_is_told_at_once(tmp_path: Path) -> None:
    content = 'name = "x"\n[[relation]]\nname = ""\nhead = "A"\nsources = []\ncolour = "red"\n'
    with pytest.raises(ConfigError) as caught:
        load_schema(_file(tmp_path, content))
    for place in ("relation.0.name", "relation.0.tail", "relation.0.sources", "relation.0.colour"):
        assert place in caught.value.message


@pytest.mark.parametrize("content", ["name = ", 'name = "x"\n', 'name = "x"\nrelation = []\n', ""])
def test_what_is_no_schema_is_told(tmp_path: Path, content: str) -> None:
    with pytest.raises(ConfigError, match=r"schema\.toml: not "):
        load_schema(_file(tmp_path, content))


def test_bytes_that_are_no_text_are_told(tmp_path: Path) -> None:
    path = tmp_path / "schema.toml"
    path.write_bytes(b'name = "\xff"\n')
    with pytest.raises(ConfigError, match="not TOML"):
        load_schema(path)


def test_two_relations_of_one_name_are_told(tmp_path: Path) -> None:
    row = '[[relation]]\nname = "r"\nhead = "A"\ntail = "B"\nsources = ["x"]\n'
    with pytest.raises(ConfigError, match="occurs twice"):
        load_schema(_file(tmp_path, f'name = "x"\n{row}{row}'))


def test_a_missing_schema_is_told_with_the_choices(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such relation schema") as caught:
        load_schema(tmp_path / "none.toml")
    assert "ctd13" in caught.value.hint
