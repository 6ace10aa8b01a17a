"""Writing BioC XML: reading the file with the bioc library, and the round trip through our reader."""

from __future__ import annotations

from dataclasses import replace

from bioc import biocxml
from hypothesis import given

from biorel.counts import Counts
from biorel.formats.bioc.reader import read_bioc
from biorel.records import Annotated, Curation, Document, Mention
from tests.formats.samples import ANNOTATED, BARE, MENTIONS, RELATIONS, TITLE, write, write_sample
from tests.formats.strategies import documents

_NOT_IN_XML = "".join(map(chr, [*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF]))


def curations(relations):
    return tuple(
        Curation(one.doc_id, one.head.type, one.head.id, one.relation, one.tail.type, one.tail.id) for one in relations
    )


def test_reads_back_what_it_wrote(tmp_path, counts):
    first, second = read_bioc(write_sample("bioc", tmp_path / "a.xml"), counts)
    assert first == replace(ANNOTATED, curations=curations(RELATIONS))
    assert second == Annotated(BARE)
    assert not [reason for reason in counts.by_reason if "repaired" in reason or "dropped" in reason]


def test_the_bioc_library_reads_it(tmp_path):
    with write_sample("bioc", tmp_path / "a.xml").open("rb") as stream:
        collection = biocxml.load(stream)
    assert collection.source == "biorel"
    first, second = collection.documents
    assert (first.id, second.id) == ("900001", "900002")
    title, abstract = first.passages
    assert (title.infons["type"], title.offset, title.text) == ("title", 0, TITLE)
    assert (abstract.infons["type"], abstract.offset) == ("abstract", len(TITLE) + 1)
    found = {mark.id: mark for passage in first.passages for mark in passage.annotations}
    assert {mark.text for mark in found.values()} == {mention.text for mention in MENTIONS}
    assert found["4"].infons == {"type": "Disease", "identifier": "MESH:D900003|-|MESH:D900004"}


def test_nodes_are_the_annotations_of_the_strongest_evidence(tmp_path):
    with write_sample("bioc", tmp_path / "a.xml").open("rb") as stream:
        first = biocxml.load(stream).documents[0]
    related = first.relations[1]
    assert related.infons == {
        "type": "chemical_induced_disease",
        "score": "0.75",
        "entity1": "MESH:D900001",
        "entity2": "MESH:D900004",
    }
    texts = {mark.id: mark.text for passage in first.passages for mark in passage.annotations}
    assert [(node.role, texts[node.refid]) for node in related.nodes] == [
        ("head", "Alphadrug"),
        ("tail", "lung and liver tumours"),
    ]


def test_a_relation_without_evidence_has_its_concepts_and_no_nodes(tmp_path, counts):
    path = write("bioc", tmp_path / "a.xml", [(ANNOTATED, [replace(RELATIONS[0], evidence=())])])
    (found,) = read_bioc(path, counts)
    assert found.curations == curations(RELATIONS[:1])
    with path.open("rb") as stream:
        assert not biocxml.load(stream).documents[0].relations[0].nodes


def test_characters_not_allowed_in_xml_become_spaces(tmp_path, counts):
    document = Document("1", "A\x07b.", "Drug\x0bX\r\nhere.")
    mentions = (Mention("1", 5, 11, "Drug\x0bX", "Chemical", "MESH:D900001"),)
    (found,) = read_bioc(write("bioc", tmp_path / "a.xml", [(Annotated(document, mentions), ())]), counts)
    assert found.document == Document("1", "A b.", "Drug X\r\nhere.")
    assert found.mentions == (replace(mentions[0], text="Drug X"),)


def test_equal_runs_write_equal_bytes(tmp_path):
    one, other = (write_sample("bioc", tmp_path / name) for name in ("a.xml", "b.xml"))
    assert one.read_bytes() == other.read_bytes()


@given(documents(forbidden=_NOT_IN_XML))
def test_any_document_survives_a_round_trip(tmp_path_factory, item):
    annotated, relations = item
    path = write("bioc", tmp_path_factory.mktemp("any") / "a.xml", [item])
    (found,) = read_bioc(path, Counts())
    assert found.document == annotated.document
    assert set(found.mentions) == set(annotated.mentions)
    ids = {(one.head_id, one.relation, one.tail_id) for one in found.curations}
    assert ids == {(one.head.id, one.relation, one.tail.id) for one in relations}
