"""The lexicon: which names come from where, and that the table gives them back."""

from __future__ import annotations

import pytest

from biorel.counts import Reason
from biorel.errors import InputError
from biorel.knowledge.ctd_vocabularies import Term
from biorel.knowledge.mesh import Mesh
from biorel.linking.lexicon import from_ctd, from_documents, from_mesh, read_lexicon, types_of, write_lexicon
from biorel.records import Annotated, Document, Mention, Name

MESH = Mesh(
    {"MESH:D900001": ("D02.100",), "MESH:D900002": ("C10.100",), "MESH:D900003": ("A01",), "MESH:D900004": ("F03.1",)},
    {
        "MESH:D900001": "Drugine",
        "MESH:D900002": "Drug Shakes",
        "MESH:D900003": "Arm",
        "MESH:D900004": "Moods",
        "MESH:C900001": "drugine maleate",
        "MESH:C900002": "rare shakes",
    },
    {"MESH:C900002": ("MESH:D900002",)},
)


def mention(start: int, text: str, id_: str | None, type_: str = "Disease") -> Mention:
    return Mention("1", start, start + len(text), text, type_, id_)


def test_counts_training_names_and_keeps_a_composite_span_as_one_name(counts):
    mentions = (
        mention(0, "HC", "MESH:D900002"),
        mention(0, "HC", "MESH:D900004"),
        mention(5, "shakes", "MESH:D900002"),
        mention(15, "shakes", "MESH:D900002"),
    )
    names = list(from_documents([Annotated(Document("1", "", ""), mentions)], counts))
    assert names == [
        Name("HC", "Disease", "MESH:D900002|MESH:D900004", "training", 1),
        Name("shakes", "Disease", "MESH:D900002", "training", 2),
    ]


def test_p06_counts_and_ignores_mentions_without_an_id(counts):
    mentions = (mention(0, "drugX", None, "Chemical"), mention(6, "drugY", None, "Chemical"))
    assert list(from_documents([Annotated(Document("1", "", ""), mentions)], counts)) == []
    assert counts[Reason.TRAINING_MENTION_WITHOUT_ID] == 2


def test_c06_maps_training_ids_to_those_of_the_vocabularies(counts):
    primary = {"OMIM:900208": "MESH:D900010"}
    document = Annotated(Document("1", "", ""), (mention(0, "shakes", "OMIM:900208"),))
    (name,) = from_documents([document], counts, lambda id_: primary.get(id_, id_))
    assert name.entity_id == "MESH:D900010"


def test_takes_chemicals_and_diseases_from_mesh(counts):
    found = {(name.name, name.type) for name in from_mesh(MESH, counts)}
    assert found == {
        ("Drugine", "Chemical"),
        ("drugine maleate", "Chemical"),
        ("Drug Shakes", "Disease"),
        ("Moods", "Disease"),
        ("rare shakes", "Disease"),
    }
    assert counts[Reason.MESH_CONCEPT_OF_OTHER_BRANCH] == 1


def test_m04_a_supplementary_concept_has_the_type_of_its_descriptor():
    assert types_of(MESH, "MESH:C900002") == ("Disease",)
    assert types_of(MESH, "MESH:D900003") == ()


def test_synonyms_exclude_the_preferred_name(counts):
    terms = [("MESH:D900001", "Drugine"), ("MESH:D900001", "Drugan"), ("MESH:D900003", "Upper Limb")]
    names = [name for name in from_mesh(MESH, counts, terms) if name.source == "synonym"]
    assert names == [Name("Drugan", "Chemical", "MESH:D900001", "synonym", 0)]


def test_c04_a_name_may_be_spelled_like_a_missing_value(tmp_path, counts):
    terms = [Term("MESH:D900001", "Chemical", "NA", ("nan",), ()), Term("NCBIGene:9", "Gene", "null", (), ())]
    path = tmp_path / "lexicon.parquet"
    assert write_lexicon(path, from_ctd(terms, counts)) == 3
    assert {name.name for name in read_lexicon(path)} == {"NA", "nan", "null"}


def test_a_lexicon_does_not_depend_on_the_order_of_names(tmp_path):
    names = [
        Name("b", "Disease", "MESH:D2", "mesh", 0),
        Name("a", "Disease", "MESH:D1", "training", 3),
        Name("a", "Chemical", "MESH:D3", "ctd", 0),
    ]
    assert write_lexicon(tmp_path / "1", [*names, names[0]]) == 3
    write_lexicon(tmp_path / "2", reversed(names))
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
    assert set(read_lexicon(tmp_path / "1")) == set(names)


def test_rejects_another_table(tmp_path):
    with pytest.raises(InputError):
        read_lexicon(tmp_path / "missing.parquet")
