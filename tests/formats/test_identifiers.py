"""Normalising concept ids of every style."""

from __future__ import annotations

import pytest

from biorel.formats.identifiers import concept_id, concept_ids, document_key, entity_type, local_id
from biorel.formats.references import concepts_of, resolve
from biorel.records import Mention


@pytest.mark.parametrize(
    ("raw", "type_", "expected"),
    [
        ("D900001", "Chemical", "MESH:D900001"),
        ("MESH:D900001", "Chemical", "MESH:D900001"),
        ("mesh:d900001", "Chemical", "MESH:D900001"),
        ("  MESH: C900001 ", "Disease", "MESH:C900001"),
        ("D000900001", "Disease", "MESH:D000900001"),
        ("*D900001", "Disease", "MESH:D900001"),
        ("CHEBI:900", "Chemical", "CHEBI:900"),
        ("chebi:900", "Chemical", "CHEBI:900"),
        ("OMIM:900208", "Disease", "OMIM:900208"),
        ("MIM:900208", "Disease", "OMIM:900208"),
        ("900208", "Disease", "OMIM:900208"),
        ("9003", "Gene", "NCBIGene:9003"),
        ("9003(Tax:9606)", "Gene", "NCBIGene:9003"),
        ("gene:9003", "", "NCBIGene:9003"),
        ("9606", "Species", "NCBITaxon:9606"),
        ("9003", "", "9003"),
        ("9003", "Chemical", "9003"),
        ("LOCAL:T1", "Chemical", "LOCAL:T1"),
        ("p|DEL|10_12|", "Mutation", "p|DEL|10_12|"),
    ],
)
def test_P09_one_style_for_every_spelling(raw, type_, expected):
    assert concept_id(raw, type_) == expected
    assert concept_id(expected, type_) == expected


@pytest.mark.parametrize("raw", ["", " ", "-", "-1", "None", "null", "MESH:-1", "mesh: ", "OMIM:-"])
def test_P06_placeholders_are_not_concepts(raw):
    assert concept_id(raw, "Chemical") is None
    assert concept_ids(raw, "Chemical") == (None,)


@pytest.mark.parametrize(
    ("raw", "type_", "expected"),
    [
        ("9003;9004", "Gene", ("NCBIGene:9003", "NCBIGene:9004")),
        ("D900001|D900002", "Disease", ("MESH:D900001", "MESH:D900002")),
        ("D900001|D900001", "Disease", ("MESH:D900001",)),
        ("D900001|-1", "Disease", ("MESH:D900001", None)),
        ("D900001|", "Disease", ("MESH:D900001",)),
        ("9003,9004", "Gene", ("NCBIGene:9003", "NCBIGene:9004")),
        ("D900001, OMIM:900208", "Disease", ("MESH:D900001", "OMIM:900208")),
        ("2,4-D", "Chemical", ("2,4-D",)),
        ("c|SUB|G|12|A", "Mutation", ("c|SUB|G|12|A",)),
    ],
)
def test_separates_several_concepts_of_one_mention(raw, type_, expected):
    assert concept_ids(raw, type_) == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("CHEMICAL", "Chemical"),
        ("ChemicalEntity", "Chemical"),
        ("DiseaseOrPhenotypicFeature", "Disease"),
        ("GENE-Y", "Gene"),
        ("GENE-N", "Gene"),
        ("GeneOrGeneProduct", "Gene"),
        ("OrganismTaxon", "Species"),
        (" CellLine ", "CellLine"),
        ("", ""),
    ],
)
def test_maps_known_types_and_keeps_others(raw, expected):
    assert entity_type(raw) == expected


def test_local_id_removes_only_the_namespaces_that_pubtator_omits():
    assert [local_id(id_) for id_ in ("MESH:D900001", "NCBIGene:9", "OMIM:9", "CHEBI:9", "D900001")] == [
        "D900001",
        "9",
        "OMIM:9",
        "CHEBI:9",
        "D900001",
    ]


def test_Q02_document_keys_keep_unequal_ids_unequal():
    ids = ["12", "012", "0012", "0", "PMC12", "", "١٢", "9" * 18, "9" * 19, "9" * 40]
    keys = [document_key(id_) for id_ in ids]
    assert len(set(keys)) == len(ids)
    assert document_key("12345678") == document_key("12345678") == 12345678


def test_relation_arguments_resolve_to_concepts_of_mentions():
    mentions = [
        Mention("1", 0, 1, "a", "Gene", "NCBIGene:9003"),
        Mention("1", 2, 3, "b", "Chemical", "MESH:D900001"),
        Mention("1", 4, 5, "c", "Disease", None),
        Mention("1", 6, 7, "d", "Species", "NCBITaxon:9003"),
    ]
    concepts = concepts_of(mentions)
    assert resolve("9003", "", concepts) == ("NCBIGene:9003", "Gene")
    assert resolve("9003", "Species", concepts) == ("NCBITaxon:9003", "Species")
    assert resolve("d900001", "", concepts) == ("MESH:D900001", "Chemical")
    assert resolve("D900009", "", concepts) == ("MESH:D900009", "")
    assert resolve("-", "", concepts) is None
