"""The readers on real files: every document, annotation and row is accounted for.

The tests count the rows of a file independently of the readers.
"""

from __future__ import annotations

import csv
import gzip
import itertools
import json
import re

import bioc
import pytest

from biorel.counts import Counts, Reason
from biorel.formats.bioc.reader import read_bioc
from biorel.formats.chemprot import locate, read_chemprot
from biorel.formats.documents import read_documents
from biorel.formats.jsonl import read_jsonl
from biorel.formats.pubtator import read_pubtator
from biorel.knowledge.ctd import read_curations, read_interaction_types
from biorel.knowledge.ctd_table import read_rows
from biorel.knowledge.mesh import read_mesh
from biorel.records import Annotated
from tests.builders import read_and_lost

pytestmark = pytest.mark.slow

PUBTATOR_FILES = {
    "cdr/CDR_TrainingSet.PubTator.txt.gz": 500,
    "cdr/CDR_DevelopmentSet.PubTator.txt.gz": 500,
    "cdr/CDR_TestSet.PubTator.txt.gz": 500,
    "ctd_slice/abstracts.pubtator.txt.gz": 323,
    "pubtator/bioconcepts2pubtator_offsets.sample.gz": 434,
}
DROPS = (Reason.MENTION_SPAN_MISMATCH, Reason.MENTION_REPEATED)


def lines_of(path):
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as stream:
        return [line.rstrip("\r\n") for line in stream]


def check_mentions(documents, counts, annotation_rows):
    """Check that annotation rows = mentions + excluded rows, and that every span matches its text."""
    assert counts[Reason.ANNOTATIONS_READ] == annotation_rows
    mentions = [(annotated.document, mention) for annotated in documents for mention in annotated.mentions]
    dropped = sum(counts[reason] for reason in DROPS)
    assert annotation_rows + counts[Reason.MENTIONS_ADDED_SEVERAL_CONCEPTS] == len(mentions) + dropped
    for document, mention in mentions:
        assert document.text[mention.start : mention.end] == mention.text
        assert mention.entity_id is None or re.fullmatch(r"\S+", mention.entity_id)


@pytest.mark.parametrize(("name", "count"), PUBTATOR_FILES.items())
def test_reads_pubtator_files_completely(shared_data, counts, name, count):
    lines = lines_of(shared_data / name)
    documents = list(read_pubtator(shared_data / name, counts))
    assert len(documents) == sum("|t|" in line for line in lines) == count
    check_mentions(documents, counts, sum(re.match(r"\d+\t\d+\t\d+\t", line) is not None for line in lines))
    relation_rows = sum("\tCID\t" in line for line in lines)
    assert counts[Reason.RELATION_ROWS_READ] == sum(len(item.curations) for item in documents) == relation_rows
    assert counts[Reason.ROW_MALFORMED] == 0
    # less than one in a thousand: the dump marks the words NO ABSTRACT that it leaves out of an empty abstract
    assert sum(counts[reason] for reason in DROPS) <= counts[Reason.ANNOTATIONS_READ] / 1000


def test_relations_of_cdr_name_the_concepts_of_their_mentions(shared_data, counts):
    documents = list(read_pubtator(shared_data / "cdr/CDR_TestSet.PubTator.txt.gz", counts))
    named = 0
    for annotated in documents:
        ids = {mention.entity_id for mention in annotated.mentions}
        named += sum(curation.head_id in ids and curation.tail_id in ids for curation in annotated.curations)
    assert named == counts[Reason.RELATION_ROWS_READ] == 1066


def test_returns_each_document_of_several_files_once(shared_data, counts):
    paths = [shared_data / name for name in PUBTATOR_FILES]
    ids = [annotated.document.doc_id for annotated in read_documents([*paths, paths[0]], counts)]
    assert len(ids) == len(set(ids))
    assert len(ids) + counts[Reason.DOCUMENT_REPEATED] == sum(PUBTATOR_FILES.values()) + 500


def as_bioc(annotated: Annotated) -> bioc.BioCDocument:
    """The document as an object of the bioc library, with relations between annotations."""
    document = bioc.BioCDocument()
    document.id = annotated.document.doc_id
    begin = len(annotated.document.title) + 1
    for kind, offset, text in (
        ("title", 0, annotated.document.title),
        ("abstract", begin, annotated.document.abstract),
    ):
        passage = bioc.BioCPassage()
        passage.infons["type"], passage.offset, passage.text = kind, offset, text
        document.add_passage(passage)
    by_concept = {}
    for number, mention in enumerate(annotated.mentions):
        annotation = bioc.BioCAnnotation()
        annotation.id, annotation.text = f"T{number}", mention.text
        annotation.infons |= {"type": mention.type, "identifier": mention.entity_id or "-"}
        annotation.add_location(bioc.BioCLocation(mention.start, mention.end - mention.start))
        document.passages[mention.start >= begin].add_annotation(annotation)
        by_concept[mention.entity_id] = annotation.id
    for curation in annotated.curations:
        relation = bioc.BioCRelation()
        relation.infons["type"] = curation.relation
        relation.add_node(bioc.BioCNode(by_concept[curation.head_id], "head"))
        relation.add_node(bioc.BioCNode(by_concept[curation.tail_id], "tail"))
        document.add_relation(relation)
    return document


def content(annotated: Annotated):
    triples = {(item.head_id, item.relation, item.tail_id) for item in annotated.curations}
    return annotated.document, set(annotated.mentions), triples


@pytest.mark.parametrize("encode", [bioc.biocxml.dumps, bioc.biocjson.dumps], ids=["xml", "json"])
def test_bioc_round_trip_of_real_documents(shared_data, counts, tmp_path, encode):
    given = list(itertools.islice(read_pubtator(shared_data / "cdr/CDR_TestSet.PubTator.txt.gz", Counts()), 60))
    collection = bioc.BioCCollection()
    for annotated in given:
        collection.add_document(as_bioc(annotated))
    path = tmp_path / "cdr"
    path.write_text(encode(collection), encoding="utf-8")
    read = list(read_bioc(path, counts))
    assert [content(annotated) for annotated in read] == [content(annotated) for annotated in given]
    check_mentions(read, counts, sum(len(annotated.mentions) for annotated in given))


def test_json_lines_round_trip_of_real_documents(shared_data, counts, tmp_path):
    given = list(read_pubtator(shared_data / "ctd_slice/abstracts.pubtator.txt.gz", Counts()))
    path = tmp_path / "slice.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        for annotated in given:
            entities = [
                {"start": item.start, "end": item.end, "text": item.text, "type": item.type, "id": item.entity_id}
                for item in annotated.mentions
            ]
            record = {"pmid": annotated.document.doc_id, "text": annotated.document.text, "entities": entities}
            stream.write(json.dumps(record) + "\n")
    read = [record for _, record in read_jsonl(path, counts)]
    assert [annotated.document.text.rstrip() for annotated in read] == [
        annotated.document.text.rstrip() for annotated in given
    ]
    assert [annotated.mentions for annotated in read] == [annotated.mentions for annotated in given]
    check_mentions(read, counts, sum(len(annotated.mentions) for annotated in given))


CTD_FILES = {
    "CTD_chem_gene_ixns.csv.gz": "InteractionActions",
    "CTD_chemicals_diseases.csv.gz": "DirectEvidence",
    "CTD_genes_diseases.csv.gz": "DirectEvidence",
}


def test_every_row_of_the_ctd_slice_becomes_curations(shared_data, counts):
    folder = shared_data / "ctd_slice"
    rows = expected = inferred = 0
    for name, column in CTD_FILES.items():
        lines = lines_of(folder / name)
        header = next(line for line in lines if "PubMedIDs" in line).removeprefix("# ")
        for row in csv.DictReader([header, *(line for line in lines if not line.startswith("#"))]):
            rows += 1
            inferred += row[column] == ""
            expected += len(row["PubMedIDs"].split("|")) * len(row[column].split("|"))
    curations = list(read_curations(folder, counts))
    assert len(curations) == expected
    assert read_and_lost(counts) == {Reason.CTD_ROW_INFERRED: inferred, Reason.CTD_ROWS_READ: rows}
    oracle = json.loads((shared_data / "oracles.json").read_text(encoding="utf-8"))
    assert inferred == oracle["ctd_slice (schema ctd14, no length cap)"]["inferred_rows_ignored"]
    assert sum(not curation.asserted for curation in curations) == inferred


def test_ids_of_the_ctd_slice_match_those_of_its_abstracts(shared_data, counts):
    folder = shared_data / "ctd_slice"
    documents = read_pubtator(folder / "abstracts.pubtator.txt.gz", counts)
    ids = {item.document.doc_id: {mention.entity_id for mention in item.mentions} for item in documents}
    curations = list(read_curations(folder, counts, ids))
    met = sum(item.head_id in ids[item.doc_id] and item.tail_id in ids[item.doc_id] for item in curations)
    assert met == len(curations) > 2000


def test_every_action_of_the_ctd_slice_has_a_known_type(shared_data, counts):
    folder = shared_data / "ctd_slice"
    parents = read_interaction_types(folder, counts)
    actions = {item.relation for item in read_curations(folder, counts) if item.tail_type == "Gene"}
    assert {action.partition("^")[2] for action in actions} <= set(parents)
    assert parents["N-linked_glycosylation"] == "glycosylation"


def test_reads_every_row_of_a_file_like_ctd(shared_data, counts):
    path = shared_data / "ctd_rows/chemical_disease_marker_pmids.tsv.gz"
    assert sum(1 for _ in read_rows(path, ("ChemicalID", "DiseaseID", "PubMedIDs"), counts)) == 135_191
    assert dict(counts.by_reason) == {Reason.CTD_ROWS_READ: 135_191}


def test_reads_every_position_of_the_mesh_tree(shared_data, counts):
    path = shared_data / "mesh/2017MeshTree.tsv.gz"
    rows = [line.split("\t") for line in lines_of(path)[1:] if line]
    mesh = read_mesh([path], counts)
    places = [(f"MESH:{id_}", place) for place, id_, _ in rows]
    assert {(id_, place) for id_, numbers in mesh.tree_numbers.items() for place in numbers} == set(places)
    assert set(mesh.names) == {id_ for id_, _ in places}
    assert read_and_lost(counts) == {}


def test_reads_drugprot_completely(shared_data, counts):
    abstracts, entities, relations = locate(shared_data / "drugprot")
    assert relations is not None
    documents = list(read_chemprot(abstracts, entities, relations, counts))
    assert len(documents) == len(lines_of(abstracts)) == 750
    check_mentions(documents, counts, len(lines_of(entities)))
    assert sum(len(item.mentions) for item in documents) == len(lines_of(entities))
    assert sum(len(item.curations) for item in documents) == len(lines_of(relations)) == 3761
    assert read_and_lost(counts).keys() == {Reason.ANNOTATIONS_READ, Reason.DOCUMENTS_READ, Reason.RELATION_ROWS_READ}
