"""The choice of a reader for a file, and documents from several files."""

from __future__ import annotations

import json

import pytest

from biorel.counts import Reason
from biorel.errors import InputError
from biorel.formats.documents import BIOC, JSONL, PUBMED, PUBTATOR, format_of, read_documents, read_records
from biorel.records import BadRecord
from tests.builders import read_and_lost

PUBTATOR_TEXT = "900001|t|Title one.\n900001|a|Abstract.\n"
RECORD = {"pmid": 900001, "title": "Title one.", "abstract": "Abstract."}
BIOC_DOCUMENT = {
    "id": "900001",
    "passages": [
        {"offset": 0, "infons": {"type": "title"}, "text": "Title one."},
        {"offset": 11, "infons": {"type": "abstract"}, "text": "Abstract."},
    ],
}
XML = (
    "<collection><document><id>900001</id>"
    "<passage><infon key='type'>title</infon><offset>0</offset><text>Title one.</text></passage>"
    "<passage><infon key='type'>abstract</infon><offset>11</offset><text>Abstract.</text></passage>"
    "</document></collection>"
)
CITATION = (
    "<MedlineCitation><PMID>900001</PMID><Article><ArticleTitle>Title one.</ArticleTitle><Abstract>"
    "<AbstractText>Abstract.</AbstractText></Abstract></Article></MedlineCitation>"
)
PUBMED_XML = f"<?xml version='1.0'?>\n<PubmedArticleSet><PubmedArticle>{CITATION}</PubmedArticle></PubmedArticleSet>"
LINE = json.dumps(RECORD)
JSON = json.dumps(BIOC_DOCUMENT)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.jsonl", LINE, JSONL),
        ("a.ndjson.gz", LINE, JSONL),
        ("A.JSONL.GZ", LINE, JSONL),
        ("a.jsonl", JSON, BIOC),
        ("a.json", JSON, BIOC),
        ("a.json.gz", json.dumps([BIOC_DOCUMENT], indent=2), BIOC),
        ("a.json", f"{LINE}\n", JSONL),
        ("a.xml", XML, BIOC),
        ("a.xml.gz", XML, BIOC),
        ("a.json", XML, BIOC),
        ("a.xml", PUBMED_XML, PUBMED),
        ("pubmed24n0001.xml.gz", PUBMED_XML, PUBMED),
        ("a.txt", f"\n<MedlineCitationSet>{CITATION}</MedlineCitationSet>", PUBMED),
        ("a.pubtator", PUBTATOR_TEXT, PUBTATOR),
        ("a.txt.gz", PUBTATOR_TEXT, PUBTATOR),
        ("no_suffix", f"\n{PUBTATOR_TEXT}", PUBTATOR),
        ("a.txt", f"\ufeff\n  {XML}", BIOC),
        ("a.txt", f" {JSON}", BIOC),
        ("a.txt", json.dumps([BIOC_DOCUMENT]), BIOC),
        ("a", f"{LINE}\n{LINE}", JSONL),
        ("a.dump", json.dumps({"PubTator3": [BIOC_DOCUMENT]}), BIOC),
    ],
)
def test_name_and_first_bytes_choose_the_reader(write, counts, name, content, expected):
    path = write(name, content)
    assert format_of(path) == expected
    _, annotated = next(read_records(path, counts))
    document = annotated.document
    assert (document.doc_id, document.title, document.abstract) == ("900001", "Title one.", "Abstract.")


def test_bioc_keys_inside_a_text_do_not_mislead(write):
    record = RECORD | {"abstract": 'A file has "passages": and "documents":.'}
    assert format_of(write("a.jsonl", json.dumps(record))) == JSONL


@pytest.mark.parametrize("line", ['{"pmid": 1', "[1]", "oops", "<xml>"])
def test_a_bad_first_line_of_a_jsonl_file_is_a_bad_record(write, counts, line):
    (number, bad), (_, good) = read_records(write("a.jsonl", f"{line}\n{LINE}\n"), counts)
    assert number == 1
    assert isinstance(bad, BadRecord)
    assert good.document.doc_id == "900001"


def test_records_have_line_numbers_if_known(write, counts):
    assert [line for line, _ in read_records(write("a.jsonl", f"\n{LINE}"), counts)] == [2]
    assert [line for line, _ in read_records(write("a.txt", PUBTATOR_TEXT), counts)] == [0]


def test_documents_of_several_files_are_in_order_and_distinct(write, counts):
    paths = [
        write("a.txt", PUBTATOR_TEXT + "\n900002|t|Two.\n900002|a|\n\n900001|t|Again.\n900001|a|\n"),
        write("b.xml", XML),
        write("c.jsonl", "\n".join(json.dumps(RECORD | {"pmid": id_}) for id_ in ("900003", "0900001", 900001))),
    ]
    found = [annotated.document for annotated in read_documents(paths, counts)]
    assert [document.doc_id for document in found] == ["900001", "900002", "900003", "0900001"]
    assert found[0].title == "Title one."
    assert counts[Reason.DOCUMENT_REPEATED] == 3
    assert counts[Reason.DOCUMENTS_READ] == len(found) + 3


def test_pubmed_citations_with_a_text_are_documents(write, counts):
    empty = "<MedlineCitation><PMID>2</PMID><Article><ArticleTitle/></Article></MedlineCitation>"
    taken_back = "<DeleteCitation><PMID>3</PMID></DeleteCitation>"
    body = f"{CITATION}{empty}{CITATION.replace('900001', '4')}{taken_back}"
    path = write("a.xml", f"<MedlineCitationSet>{body}</MedlineCitationSet>")
    assert [annotated.document.doc_id for annotated in read_documents([path], counts)] == ["900001", "4"]
    assert read_and_lost(counts) == {Reason.RECORD_WITHOUT_TEXT: 1, Reason.RECORD_DELETION: 1, Reason.DOCUMENTS_READ: 2}


def test_J02_a_bad_record_stops_with_file_and_line(write, counts):
    path = write("a.jsonl", f"{LINE}\n\n{{oops\n")
    documents = read_documents([path], counts)
    assert next(documents).document.doc_id == "900001"
    with pytest.raises(InputError, match=r"a\.jsonl:3: not JSON"):
        next(documents)


def test_J03_missing_and_empty_files_are_errors(write, tmp_path, counts):
    for path, message in [
        (tmp_path / "missing.jsonl", "no such file"),
        (tmp_path / "missing.xml", "no such file"),
        (tmp_path, "this is a folder, but a file is needed"),
        (write("empty.txt", ""), "no document in PubTator format"),
        (write("empty.json", ""), "neither XML nor JSON"),
        (write("empty.xml.gz", ""), "neither XML nor JSON"),
    ]:
        with pytest.raises(InputError, match=message):
            list(read_documents([path], counts))


def test_no_files_give_no_documents(counts):
    assert list(read_documents([], counts)) == []
