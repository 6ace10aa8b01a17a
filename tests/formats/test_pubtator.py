"""Reading PubTator: documents, annotation rows of every width, relation rows, and unreadable files."""

from __future__ import annotations

import pytest

from biorel.counts import Reason
from biorel.errors import InputError
from biorel.formats.pubtator import read_pubtator
from biorel.records import Curation, Document
from tests.builders import read_and_lost

TWO_DOCUMENTS = """\
900001|t|Alphadrug causes tremor.
900001|a|In rats, alphadrug caused tremor.
900001\t0\t9\tAlphadrug\tChemical\tD900001
900001\t17\t23\ttremor\tDisease\tD900002
900001\t34\t43\talphadrug\tChemical\tMESH:D900001
900001\tCID\tD900001\tD900002

900002|t|Betadrug.
900002|a|
"""


def ids(annotated):
    return [mention.entity_id for mention in annotated.mentions]


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_reads_documents_with_mentions_and_curations(write, counts, name, end):
    first, second = read_pubtator(write(name, TWO_DOCUMENTS.replace("\n", end)), counts)
    assert first.document == Document("900001", "Alphadrug causes tremor.", "In rats, alphadrug caused tremor.")
    assert [(mention.start, mention.end, mention.text) for mention in first.mentions] == [
        (0, 9, "Alphadrug"),
        (17, 23, "tremor"),
        (34, 43, "alphadrug"),
    ]
    assert ids(first) == ["MESH:D900001", "MESH:D900002", "MESH:D900001"]
    assert first.curations == (Curation("900001", "", "MESH:D900001", "CID", "", "MESH:D900002"),)
    assert second.document == Document("900002", "Betadrug.", "")
    assert read_and_lost(counts) == {
        Reason.ANNOTATIONS_READ: 3,
        Reason.DOCUMENTS_READ: 2,
        Reason.RELATION_ROWS_READ: 1,
    }


def test_the_next_title_begins_a_document_without_a_blank_line(write, counts):
    text = TWO_DOCUMENTS.replace("\n\n", "\n")
    assert [item.document.doc_id for item in read_pubtator(write("a", text), counts)] == ["900001", "900002"]
    assert counts[Reason.ROW_MALFORMED] == 0


def test_only_one_document_is_held_at_a_time(write, counts):
    documents = read_pubtator(write("a", TWO_DOCUMENTS), counts)
    next(documents)
    assert counts[Reason.DOCUMENTS_READ] == 1


WIDTHS = (
    "900005|t|T790M in rats.\n"
    "900005|a|\n"
    "900005\t0\t5\tT790M\tMutation\n"
    "900005\t9\t13\trats\tSpecies\t10116\n"
    "900005\t0\t5\tT790M\tMutation\tp.T790M\tRSID:900\n"
    "900005\t0\t5\tT790M\tMutation\tp.T790M\tRSID:901\textra\n"
    "900005\t0\t5\tT790M\n"
    "900005\t0\n"
    "900006\t0\t5\tT790M\tMutation\tp.T790M\n"
)


def test_P04_rows_of_five_columns_and_more_are_read_and_bad_rows_counted(write, counts):
    path = write("a", WIDTHS)
    (annotated,) = read_pubtator(path, counts)
    assert ids(annotated) == [None, "NCBITaxon:10116", "p.T790M"]
    assert counts[Reason.ANNOTATIONS_READ] == 4
    assert counts[Reason.MENTION_REPEATED] == 1
    assert counts[Reason.ROW_MALFORMED] == 3
    places = [example.split(": ")[0] for example in counts.examples[Reason.ROW_MALFORMED]]
    assert places == [f"{path}:{line}" for line in (7, 8, 9)]
    assert counts.examples[Reason.ROW_MALFORMED][0].endswith("neither an annotation nor a relation")


def test_P05_several_concepts_are_several_mentions_of_one_span(write, counts):
    text = (
        "900007|t|Renal and liver failure.\n"
        "900007|a|\n"
        "900007\t0\t23\tRenal and liver failure\tDisease\tD900001|D900002\n"
    )
    (annotated,) = read_pubtator(write("a", text), counts)
    assert ids(annotated) == ["MESH:D900001", "MESH:D900002"]
    assert {(mention.start, mention.end) for mention in annotated.mentions} == {(0, 23)}
    assert counts[Reason.MENTIONS_ADDED_SEVERAL_CONCEPTS] == 1


def test_P06_keeps_mentions_without_a_concept(write, counts):
    text = (
        "900008|t|drugX drugY drugZ tremor\n"
        "900008|a|\n"
        "900008\t0\t5\tdrugX\tChemical\t-\n"
        "900008\t6\t11\tdrugY\tChemical\t-1\n"
        "900008\t12\t17\tdrugZ\tChemical\t\n"
        "900008\t18\t24\ttremor\tDisease\tD900002\n"
        "900008\tCID\t-1\tD900002\n"
    )
    (annotated,) = read_pubtator(write("a", text), counts)
    assert ids(annotated) == [None, None, None, "MESH:D900002"]
    assert [mention.text for mention in annotated.mentions[:3]] == ["drugX", "drugY", "drugZ"]
    assert annotated.curations == ()
    assert counts[Reason.CURATION_ARGUMENT_WITHOUT_CONCEPT] == 1


def test_P07_offsets_in_bytes_are_read_as_characters(write, counts):
    text = "900009|t|Dose of 5 µg β-agonist caused tremor.\n900009|a|\n900009\t32\t38\ttremor\tDisease\tD900002\n"
    (annotated,) = read_pubtator(write("a", text), counts)
    (mention,) = annotated.mentions
    assert annotated.document.text[mention.start : mention.end] == "tremor"


def test_P08_annotations_of_another_edition_do_not_end_the_run(write, counts):
    shifted = (
        "900010|t|Title.\n"
        "900010|a|Alphadrug: tremor, then tremor.\n"
        "900010\t19\t28\tAlphadrug\tChemical\tD900001\n"
        "900010\t30\t36\ttremor\tDisease\tD900002\n\n"
    )
    first, second, third = read_pubtator(write("a", shifted + TWO_DOCUMENTS), counts)
    assert [(mention.start, mention.text) for mention in first.mentions] == [(7, "Alphadrug")]
    assert counts[Reason.SPAN_REPAIRED_UNIQUE_TEXT] == 1
    assert counts[Reason.MENTION_SPAN_MISMATCH] == 1
    assert len(second.mentions) == 3
    assert third.document.doc_id == "900002"


def test_P09_spellings_of_one_id_are_one_entity(write, counts):
    raw = ["MESH:D900001", "D900001", "mesh:d900001", "CHEBI:900"]
    rows = "".join(f"900011\t{at}\t{at + 1}\t{'abcd'[at]}\tChemical\t{id_}\n" for at, id_ in enumerate(raw))
    (annotated,) = read_pubtator(write("a", f"900011|t|abcd\n900011|a|\n{rows}"), counts)
    assert ids(annotated) == ["MESH:D900001"] * 3 + ["CHEBI:900"]


def test_a_relation_names_genes_as_the_annotations_do(write, counts):
    text = "1|t|GEN1 GEN2\n1|a|\n1\t0\t4\tGEN1\tGene\t9003\n1\t5\t9\tGEN2\tGene\t9004\n1\tBind\t9003\t9004\tNovel\n"
    (annotated,) = read_pubtator(write("a", text), counts)
    assert annotated.curations == (Curation("1", "", "NCBIGene:9003", "Bind", "", "NCBIGene:9004"),)


@pytest.mark.parametrize("text", ["", "\n\n", "just some prose\n", "900001\t0\t5\tx\tGene\t1\n"])
def test_J03_a_file_without_a_document_is_an_error(write, counts, text):
    with pytest.raises(InputError, match="no document in PubTator format"):
        list(read_pubtator(write("a", text), counts))
