"""M: MeSH's tree numbers, padded ids and supplementary concepts."""

from __future__ import annotations

import pytest

from biorel.counts import Reason
from biorel.dataset.hypernyms import strict_ancestors
from biorel.knowledge.mesh import read_mesh, resolve
from tests.command_runs import build, ctd_folder, mesh_file, pubtator
from tests.field.tables import counts, pairs


@pytest.mark.parametrize("odd", ["@900176", "C.01.100", "C1.100", "C01.10", "C01.100.", "c01.100", ""])
def test_m_01_ignores_malformed_tree_numbers(tmp_path, counts, odd):
    path = mesh_file(tmp_path / "m.tsv", ("C01", "D900001"), ("C01.100", "D900002"), (odd, "D900003"))
    mesh = read_mesh([path], counts)
    assert mesh.tree_numbers == {"MESH:D900001": ("C01",), "MESH:D900002": ("C01.100",)}
    assert "MESH:D900003" in mesh.names
    assert counts[Reason.TREE_NUMBER_MALFORMED] == 1
    above = strict_ancestors(mesh.tree_numbers, mesh.mapped_to)
    assert above("MESH:D900002") == {"MESH:D900001"}
    assert above("MESH:D900003") == frozenset()


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("D000090001", "MESH:D090001"),
        ("D000090002", "MESH:D000090002"),
        ("mesh:d000090001", "MESH:D090001"),
        ("D0090001", "MESH:D090001"),
        ("D000000001", None),
    ],
)
def test_m_02_removes_padding_only_if_the_short_id_exists(tmp_path, counts, asked, found):
    mesh = read_mesh([mesh_file(tmp_path / "m.tsv", ("C01", "D090001"), ("C02", "D000090002"))], counts)
    assert resolve(mesh, asked) == found


@pytest.mark.parametrize("padded", ["mention", "curation"])
def test_m_02_joins_padded_ids_with_ctd(write, tmp_path, padded):
    ids = ("MESH:D000090001", "MESH:D090001")
    mentioned, curated = ids if padded == "mention" else ids[::-1]
    text = pubtator("1", "Zetin.", "Tremor.", [("Zetin", "Chemical", "D900001"), ("Tremor", "Disease", mentioned)])
    row = {"ChemicalID": "D900001", "DiseaseID": curated, "DirectEvidence": "therapeutic", "PubMedIDs": "1"}
    folder = ctd_folder(tmp_path / "ctd", CTD_chemicals_diseases=[row])
    tree = mesh_file(tmp_path / "m.tsv", ("C01", "D090001"), ("C02", "D000090002"))
    shares = {"dev_share": 0, "test_share": 0}
    stats = build(tmp_path / "d", documents=[write("a.txt", text)], ctd=folder, mesh=[tree], **shares)
    assert stats["total"]["positives"] == 1
    assert list(pairs(tmp_path / "d")) == [("MESH:D900001", "MESH:D090001")]


def test_m_02_counts_an_unknown_padded_id(write, tmp_path):
    marks = [("Zetin", "Chemical", "D900001"), ("Tremor", "Disease", "D000090003"), ("Ataxia", "Disease", "D090001")]
    text = pubtator("1", "Zetin.", "Tremor. Ataxia.", marks, [("D900001", "D090001")])
    tree = mesh_file(tmp_path / "m.tsv", ("C01", "D090001"))
    build(tmp_path / "d", train=[write("a.txt", text)], schema="cdr", mesh=[tree])
    assert counts(tmp_path / "d")[Reason.LONG_ID_UNKNOWN_TO_MESH] == 1
    assert ("MESH:D900001", "MESH:D000090003") in pairs(tmp_path / "d")


DESCRIPTORS = (
    "<DescriptorRecordSet><DescriptorRecord><DescriptorUI>D900100</DescriptorUI><DescriptorName><String>Top</String>"
    "</DescriptorName><TreeNumberList><TreeNumber>C10</TreeNumber></TreeNumberList></DescriptorRecord>"
    "</DescriptorRecordSet>"
)
SUPPLEMENT = (
    "<SupplementalRecordSet><SupplementalRecord><SupplementalRecordUI>C900001</SupplementalRecordUI>"
    "<SupplementalRecordName><String>Rare</String></SupplementalRecordName><HeadingMappedToList>{}"
    "</HeadingMappedToList></SupplementalRecord></SupplementalRecordSet>"
)
MAPPED = {
    "text": "<HeadingMappedTo>*D900100/Q000151</HeadingMappedTo>",
    "starred": "<HeadingMappedTo><DescriptorReferredTo><DescriptorUI>*D900100</DescriptorUI></DescriptorReferredTo>"
    "<QualifierReferredTo><QualifierUI>Q000151</QualifierUI></QualifierReferredTo></HeadingMappedTo>",
    "plain": "<HeadingMappedTo><DescriptorReferredTo><DescriptorUI>D900100</DescriptorUI></DescriptorReferredTo>"
    "</HeadingMappedTo>",
}


@pytest.mark.parametrize("kind", MAPPED)
def test_m_04_maps_a_supplementary_concept_to_its_descriptor(write, counts, kind):
    paths = [write("desc.xml", DESCRIPTORS), write("supp.xml", SUPPLEMENT.format(MAPPED[kind]))]
    mesh = read_mesh(paths, counts)
    above = strict_ancestors(mesh.tree_numbers, mesh.mapped_to)
    assert above("MESH:C900001") == {"MESH:D900100"}
    assert above("MESH:D900100") == frozenset()


def test_m_04_stops_at_circular_mappings():
    above = strict_ancestors({}, {"MESH:C1": ("MESH:C2",), "MESH:C2": ("MESH:C1",)})
    assert above("MESH:C1") == {"MESH:C2"}
