"""MeSH files of every kind, and ids written in another form than in these files."""

from __future__ import annotations

import pytest

from biorel.counts import Reason
from biorel.dataset.hypernyms import strict_ancestors
from biorel.errors import InputError
from biorel.knowledge.mesh import Mesh, read_mesh, resolve
from tests.builders import read_and_lost

TSV = "Tree Number\tDesc Ui\tTerm\nC01\tD900001\tInfections\nC01.100\tD900002\tFever\nC23.888\tD900002\tFever\n"
MTREES = "Infections;C01\nFever;C01.100\nFever;C23.888\n"
DESC = """\
<?xml version="1.0"?>
<!DOCTYPE DescriptorRecordSet SYSTEM "https://www.nlm.nih.gov/databases/dtd/nlmdescriptorrecordset_20240101.dtd">
<DescriptorRecordSet LanguageCode="eng">
<DescriptorRecord><DescriptorUI>D900001</DescriptorUI>
  <DescriptorName><String>Infections</String></DescriptorName>
  <SeeRelatedList><SeeRelatedDescriptor><DescriptorReferredTo><DescriptorUI>D900009</DescriptorUI>
  </DescriptorReferredTo></SeeRelatedDescriptor></SeeRelatedList>
  <TreeNumberList><TreeNumber>C01</TreeNumber></TreeNumberList></DescriptorRecord>
<DescriptorRecord><DescriptorUI>D900002</DescriptorUI>
  <DescriptorName><String>Fever</String></DescriptorName>
  <TreeNumberList><TreeNumber>C01.100</TreeNumber><TreeNumber>C23.888</TreeNumber></TreeNumberList></DescriptorRecord>
<DescriptorRecord><DescriptorUI>D900003</DescriptorUI>
  <DescriptorName><String>Male</String></DescriptorName></DescriptorRecord>
</DescriptorRecordSet>
"""
SUPP = """\
<!DOCTYPE SupplementalRecordSet SYSTEM "nlmsupplementalrecordset_20240101.dtd">
<SupplementalRecordSet>
<SupplementalRecord><SupplementalRecordUI>C900001</SupplementalRecordUI>
  <SupplementalRecordName><String>alpha fever</String></SupplementalRecordName>
  <HeadingMappedToList>
    <HeadingMappedTo><DescriptorReferredTo><DescriptorUI>*D900100</DescriptorUI></DescriptorReferredTo>
      <QualifierReferredTo><QualifierUI>*Q000151</QualifierUI></QualifierReferredTo></HeadingMappedTo>
    <HeadingMappedTo><DescriptorReferredTo><DescriptorUI>D900002</DescriptorUI></DescriptorReferredTo></HeadingMappedTo>
  </HeadingMappedToList>
  <IndexingInformationList><IndexingInformation><DescriptorReferredTo><DescriptorUI>D900777</DescriptorUI>
  </DescriptorReferredTo></IndexingInformation></IndexingInformationList></SupplementalRecord>
<SupplementalRecord><SupplementalRecordUI>C900002</SupplementalRecordUI>
  <SupplementalRecordName><String>beta</String></SupplementalRecordName>
  <HeadingMappedToList><HeadingMappedTo>*D900100/Q000151</HeadingMappedTo></HeadingMappedToList></SupplementalRecord>
</SupplementalRecordSet>
"""

TREE = {"MESH:D900001": ("C01",), "MESH:D900002": ("C01.100", "C23.888")}
NAMES = {"MESH:D900001": "Infections", "MESH:D900002": "Fever"}


@pytest.mark.parametrize("name", ["2017MeshTree.tsv", "2017MeshTree.tsv.gz"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_reads_the_tree_as_tsv_in_every_encoding(write, counts, name, encoding, end):
    path = write(name, TSV.replace("\n", end).encode(encoding))
    assert read_mesh([path], counts) == Mesh(TREE, NAMES, {})
    assert read_and_lost(counts) == {}


def test_reads_a_tsv_with_a_utf16_byte_order_mark_and_greek(write, counts):
    path = write("tree.txt", ("\ufeff" + TSV.replace("Fever", "β-Fever")).encode("utf-16-be"))
    assert read_mesh([path], counts).names["MESH:D900002"] == "β-Fever"


@pytest.mark.parametrize("name", ["desc2024.xml", "desc2024.xml.gz"])
def test_descriptor_xml_is_read_without_its_dtd(write, counts, name):
    mesh = read_mesh([write(name, DESC)], counts)
    assert mesh == Mesh(TREE, NAMES | {"MESH:D900003": "Male"}, {})


def test_M04_supplementary_concepts_have_the_descriptors_they_are_mapped_to(write, counts):
    desc = DESC.replace("D900003", "D900100").replace(
        "Male</String></DescriptorName>",
        ("Male</String></DescriptorName><TreeNumberList><TreeNumber>C10</TreeNumber></TreeNumberList>"),
    )
    mesh = read_mesh([write("supp2024.xml.gz", SUPP), write("desc2024.xml", desc)], counts)
    assert mesh.mapped_to == {
        "MESH:C900001": ("MESH:D900100", "MESH:D900002"),
        "MESH:C900002": ("MESH:D900100",),
    }
    assert mesh.names["MESH:C900001"] == "alpha fever"
    assert "MESH:C900001" not in mesh.tree_numbers
    ancestors = strict_ancestors(mesh.tree_numbers, mesh.mapped_to)
    assert ancestors("MESH:C900002") == {"MESH:D900100"}
    assert ancestors("MESH:D900100") == ancestors("MESH:D900001") == frozenset()
    assert ancestors("MESH:C900001") == {"MESH:D900100", "MESH:D900002", "MESH:D900001"}


@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-1"])
def test_mtrees_takes_its_ids_from_a_descriptor_file_by_name(write, counts, encoding):
    text = MTREES.replace("Fever", "Fièvre; aiguë") + "Nobody;C99\n\n"
    mtrees = write("mtrees2024.bin", text.encode(encoding))
    tsv = write("tree.tsv", "Tree Number\tDesc Ui\tTerm\nC01\tD900001\tInfections\nA01\tD900002\tFièvre; aiguë\n")
    mesh = read_mesh([mtrees, tsv], counts)
    assert mesh.tree_numbers == {"MESH:D900001": ("C01",), "MESH:D900002": ("A01", "C01.100", "C23.888")}
    assert read_and_lost(counts) == {Reason.TREE_NAME_WITHOUT_DESCRIPTOR: 1}


def test_rejects_mtrees_alone(write, counts):
    with pytest.raises(InputError, match=r"mtrees2024\.bin: mtrees files have names but no ids"):
        read_mesh([write("mtrees2024.bin", MTREES)], counts)


def test_joins_the_entries_of_a_concept_from_several_files(write, counts):
    more = write("b.tsv", "Tree Number\tDesc Ui\tTerm\nC01.100\tD900002\tFever\nC90\tD900002\tPyrexia\n")
    mesh = read_mesh([write("a.tsv", TSV), more], counts)
    assert mesh.tree_numbers["MESH:D900002"] == ("C01.100", "C23.888", "C90")
    assert mesh.names["MESH:D900002"] == "Fever"


def test_M01_ignores_values_that_are_not_tree_numbers(write, counts):
    bad = ["@900176", "C.01.100", "A.11.329", "C01.10", "c01.100", "C01.100.", "C1", "", "C01.10\u0661"]
    rows = "".join(f"{value}\tD90{at:04}\tX{at}\n" for at, value in enumerate(bad, start=10))
    mesh = read_mesh([write("a.tsv", TSV + rows)], counts)
    assert mesh.tree_numbers == TREE
    assert len(mesh.names) == len(NAMES) + len(bad)
    assert counts[Reason.TREE_NUMBER_MALFORMED] == len(bad)


def test_counts_malformed_rows_with_their_place(write, counts):
    path = write("a.tsv", TSV + "C01.200\tnot an id\tX\nC01.300\n\nC01.400\tD900004\tGood\textra\n")
    mesh = read_mesh([path], counts)
    assert mesh.tree_numbers == TREE | {"MESH:D900004": ("C01.400",)}
    assert counts.examples[Reason.ROW_MALFORMED] == [f"{path}:5", f"{path}:6"]


MESH = Mesh({"MESH:D090001": ("C01",)}, {"MESH:D000090002": "genuine"}, {"MESH:C000100": ("MESH:D090001",)})


def test_M02_the_exact_form_wins_where_both_exist():
    both = Mesh({}, {"MESH:D090001": "short", "MESH:D000090001": "long"}, {})
    assert resolve(both, "D000090001") == "MESH:D000090001"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "not a known MeSH file"),
        ("prose; and more\n", "not a known MeSH file"),
        ("Tree Number\tTerm\n", "not a known MeSH file"),
        ("Tree Number\tDesc Ui\tTerm\n", "no MeSH concept"),
        ("<DescriptorRecordSet/>", "no MeSH concept"),
        ("<PubmedArticleSet/>", r"root element <PubmedArticleSet> where <DescriptorRecordSet> or <Suppl"),
        ("<DescriptorRecordSet>", "not well-formed XML"),
        (b"\xff\xfea", "not valid UTF-16"),
    ],
)
def test_rejects_a_file_that_is_not_mesh(write, counts, content, message):
    with pytest.raises(InputError, match=message):
        read_mesh([write("a.bin", content)], counts)


def test_counts_records_without_an_id(write, counts):
    mesh = read_mesh([write("a.xml", DESC.replace("<DescriptorUI>D900003", "<DescriptorUI>what"))], counts)
    assert mesh == Mesh(TREE, NAMES, {})
    assert counts[Reason.MESH_RECORD_MALFORMED] == 1
