"""Relation schemas: looking up labels, the shipped schemas, and schema files."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biorel.dataset.relation_schema import (
    RelationSchema,
    RelationType,
    load_schema,
    pair_type_name,
    schema_toml,
)
from biorel.errors import ConfigError, InputError
from tests.builders import RESOURCES, relation, schema


def test_a_label_is_looked_up_by_source_term_and_types() -> None:
    loaded = schema(
        relation("chem", "Chemical", "Disease", "marker", "CID"),
        relation("gene", "Gene", "Disease", "marker"),
        relation("therapy", "Chemical", "Disease", "therapeutic"),
    )
    assert loaded.labels == ("chem", "gene", "therapy")
    assert loaded.pair_types == (("Chemical", "Disease"), ("Gene", "Disease"))
    assert loaded.label("marker", "Gene", "Disease") == "gene"
    assert loaded.label("CID", "Chemical", "Disease") == "chem"
    assert loaded.label("CID", "Gene", "Disease") is None
    assert loaded.label("marker", "Disease", "Chemical") is None
    assert loaded.label("mark", "Chemical", "Disease") is None
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
def test_the_shipped_schemas_have_the_rows_of_table_6(name: str, rows: int) -> None:
    loaded = load_schema(RESOURCES / "relations" / f"{name}.toml")
    labels = {loaded.label(word, *types) for types, words in TABLE_6.items() for word in words}
    dropped = loaded.label("therapeutic", "Gene", "Disease") is None
    assert dropped == (name == "ctd13")
    assert labels - {None} == set(loaded.labels)
    assert len(loaded.labels) == rows
    for word in ("affects^expression", "affects^activity", "affects^reaction", "increases^binding"):
        assert loaded.label(word, "Chemical", "Gene") is None
    for degree in ("increases", "decreases"):
        assert loaded.label(f"{degree}^transport", "Chemical", "Gene") == "chemical_gene:affects_transport"


def test_the_shipped_cdr_schema_has_one_relation() -> None:
    loaded = load_schema(RESOURCES / "relations" / "cdr.toml")
    assert loaded.label("CID", "Chemical", "Disease") == "chemical_induced_disease"
    assert len(loaded.labels) == 1


def _file(tmp_path: Path, content: str) -> Path:
    path = tmp_path / "schema.toml"
    path.write_text(content, encoding="utf-8")
    return path


def test_a_schema_survives_its_file(tmp_path: Path) -> None:
    for original in (
        schema(
            relation("chemical_gene:affects_transport", "Chemical", "Gene", "affects^transport", "decreases^transport")
        ),
        schema(
            relation("binds", "Gene", "Gene", "binds", "β^x", symmetric=True), relation("treats", "Drug", "Disease")
        ),
    ):
        assert load_schema(_file(tmp_path, schema_toml(original))) == original


TERMS = st.text(min_size=1, max_size=8)


@given(TERMS, st.lists(TERMS, min_size=1, max_size=3), st.booleans())
@settings(max_examples=80, deadline=None)
def test_any_source_term_survives_the_file(tmp_path_factory, name: str, terms: list[str], symmetric: bool) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    original = RelationSchema(
        name, (RelationType(name=name, head=name, tail=terms[0], sources=tuple(terms), symmetric=symmetric),)
    )
    path.write_bytes(schema_toml(original).encode("utf-8"))
    assert load_schema(path) == original


def test_all_faults_of_a_schema_are_reported_at_once(tmp_path: Path) -> None:
    content = 'name = "x"\n[[relation]]\nname = ""\nhead = "A"\nsources = []\ncolour = "red"\n'
    with pytest.raises(ConfigError) as caught:
        load_schema(_file(tmp_path, content))
    for place in ("relation.0.name", "relation.0.tail", "relation.0.sources", "relation.0.colour"):
        assert place in caught.value.message


@pytest.mark.parametrize("content", ["name = ", 'name = "x"\n', 'name = "x"\nrelation = []\n', ""])
def test_rejects_a_file_that_is_not_a_schema(tmp_path: Path, content: str) -> None:
    with pytest.raises(ConfigError, match=r"schema\.toml: not "):
        load_schema(_file(tmp_path, content))


def test_rejects_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "schema.toml"
    path.write_bytes(b'name = "\xff"\n')
    with pytest.raises(ConfigError, match="not TOML"):
        load_schema(path)


def test_rejects_two_relations_with_one_name(tmp_path: Path) -> None:
    row = '[[relation]]\nname = "r"\nhead = "A"\ntail = "B"\nsources = ["x"]\n'
    with pytest.raises(ConfigError, match="occurs twice"):
        load_schema(_file(tmp_path, f'name = "x"\n{row}{row}'))


def test_the_error_of_a_missing_schema_lists_the_choices(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such relation schema") as caught:
        load_schema(tmp_path / "none.toml")
    assert "ctd13" in caught.value.hint
