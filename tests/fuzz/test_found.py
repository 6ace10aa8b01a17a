"""What the fuzzers and the properties found, each mended at its cause."""

from __future__ import annotations

import json
import time
import tomllib
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from biorel.config import load
from biorel.config.tag import Tag
from biorel.counts import Counts, Reason
from biorel.errors import BiorelError, ConfigError, FetchError, InputError
from biorel.fetch.archives import unpack
from biorel.fetch.eutils import fetch_articles, search
from biorel.fetch.pubtator_api import export
from biorel.fetch.pubtator_dump import filter_dump
from biorel.formats import chemprot, files, pubtator, spans
from biorel.formats import files as json_size
from biorel.formats import xml_stream as xml_meter
from biorel.formats.bioc import parse as bioc_parse
from biorel.formats.bioc.parse import parse_bioc
from biorel.formats.bioc.reader import read_bioc
from biorel.formats.chemprot import read_chemprot
from biorel.formats.documents import read_records
from biorel.formats.identifiers import concept_id
from biorel.formats.predictions import read_predictions
from biorel.formats.pubmed import Citation, read_pubmed
from biorel.formats.pubtator import read_pubtator
from biorel.formats.relations import read_relations
from biorel.formats.spans import check_spans
from biorel.knowledge import mesh_files
from biorel.knowledge.mesh_files import read_entries
from biorel.records import Document, Mention
from biorel.tables import read_table, write_table
from tests.servers import article, article_set
from tools.fuzz.hostile import hostile_files
from tools.fuzz.readers import READERS, Answers

ENDLESS = "9" * 5000
DEEP = "[" * 3000
RELATION = {
    "doc_id": "1",
    "head": {"id": "MESH:D1", "type": "Chemical", "name": "a"},
    "relation": "r",
    "tail": {"id": "MESH:D2", "type": "Disease", "name": "b"},
    "score": 0.5,
    "evidence": [],
}


def one_line(told) -> str:
    message = str(told.value.message)
    assert "\n" not in message
    assert len(message) < 700
    return message


# ---- tables


def test_a_damaged_page_of_a_table_is_told_in_one_line(tmp_path):
    path = tmp_path / "documents.parquet"
    write_table(path, Document, [Document(str(number), "t" * number, "a") for number in range(99)])
    content = bytearray(path.read_bytes())
    content[4:60] = bytes(56)
    path.write_bytes(content)
    with pytest.raises(InputError, match="damaged") as told:
        list(read_table(path, Document))
    one_line(told)


def test_a_table_with_other_types_is_read_where_they_fit_and_refused_where_not(tmp_path):
    path = tmp_path / "documents.parquet"
    texts = pa.array(["a title"], pa.large_string())
    pq.write_table(pa.table({"doc_id": [227508], "title": texts, "abstract": texts.dictionary_encode()}), path)
    assert list(read_table(path, Document)) == [Document("227508", "a title", "a title")]
    pq.write_table(pa.table({"doc_id": ["1"], "title": [["a"]], "abstract": texts}), path)
    with pytest.raises(InputError, match=r"documents\.parquet"):
        list(read_table(path, Document))


def test_a_missing_text_in_a_table_does_not_become_the_word_none(tmp_path):
    path = tmp_path / "documents.parquet"
    pq.write_table(pa.table({"doc_id": ["1"], "title": ["t"], "abstract": pa.array([None], pa.string())}), path)
    with pytest.raises(InputError, match="rows have no abstract"):
        list(read_table(path, Document))


def test_a_mention_of_a_table_that_does_not_show_its_text_is_booked(tmp_path):
    write_table(tmp_path / "documents.parquet", Document, [Document("1", "Title 1", "")])
    rows = [Mention("1", start, end, "Title", "Chemical", None) for start, end in ((0, 5), (32, 5), (0, 99))]
    write_table(tmp_path / "mentions.parquet", Mention, [*rows, Mention("1", 0, 3, "gone", "Chemical", None)])
    books = Counts()
    ((_, found),) = read_records(tmp_path, books)
    assert found.mentions == (rows[0],)
    assert books[Reason.SPAN_REPAIRED_UNIQUE_TEXT] == books[Reason.MENTION_REPEATED] == 2
    assert books[Reason.MENTION_SPAN_MISMATCH] == 1


# ---- JSON


@pytest.mark.parametrize(
    "line", [DEEP, '{"head": 1, "tail": ' + DEEP, '{"doc_id": "1", "head": "\\ud83d", "tail": "D1"}']
)
def test_a_prediction_that_is_too_deep_or_no_text_is_a_malformed_row(tmp_path, line):
    (tmp_path / "a.jsonl").write_text(f"{json.dumps(RELATION)}\n{line}\n", encoding="utf-8")
    books = Counts()
    found = read_predictions(tmp_path / "a.jsonl", books).facts
    assert found == (("1", "MESH:D1", "r", "MESH:D2"), ("", "", "", ""))
    assert books[Reason.ROW_MALFORMED] == 1


def test_a_relation_with_an_offset_that_no_table_holds_is_refused(tmp_path):
    evidence = {"head": [0, 2**31], "tail": [0, 1], "weight": 1, "sentence": [0, 1]}
    (tmp_path / "a.jsonl").write_text(json.dumps(RELATION | {"evidence": [evidence]}), encoding="utf-8")
    with pytest.raises(InputError, match="a span of the evidence is invalid"):
        list(read_relations(tmp_path / "a.jsonl", Counts()))


@pytest.mark.parametrize("value", ['{"documents": ' + "[" * 900 + "]" * 900 + "}", "[" * 900 + "]" * 900])
def test_bioc_lists_that_json_reads_and_our_code_could_not_follow(tmp_path, value):
    (tmp_path / "a.json").write_text(value, encoding="utf-8")
    with pytest.raises(InputError, match=r"no document|too deeply"):
        list(read_bioc(tmp_path / "a.json", Counts()))


def test_a_list_within_a_list_in_an_infon_says_nothing(tmp_path):
    infons = '{"type": ' + "[" * 400 + "]" * 400 + ', "identifier": ["D1", ["D2"]]}'
    mark = f'{{"id": "1", "infons": {infons}, "text": "ab", "locations": [{{"offset": 0, "length": 2}}]}}'
    passage = f'{{"offset": 0, "text": "ab cd", "annotations": [{mark}]}}'
    (tmp_path / "a.json").write_text(f'{{"id": "1", "passages": [{passage}]}}', encoding="utf-8")
    (found,) = read_bioc(tmp_path / "a.json", Counts())
    assert [(one.type, one.entity_id) for one in found.mentions] == [("", "D1")]


@pytest.mark.parametrize(
    ("module", "bound", "message"),
    [(bioc_parse, "_MOST_NODES", "more than 5 passages"), (json_size, "MOST_VALUES", "too large")],
)
def test_bioc_json_that_would_fill_the_memory_is_refused_before_it_does(tmp_path, monkeypatch, module, bound, message):
    monkeypatch.setattr(module, bound, 5)
    (tmp_path / "a.json").write_text('{"id": "1", "passages": [{}, {}, {}, {}, {}, {}]}', encoding="utf-8")
    with pytest.raises(InputError, match=message):
        list(parse_bioc(tmp_path / "a.json", Counts()))


# ---- XML


def test_an_attribute_with_the_name_of_a_list_is_none(tmp_path):
    content = '<document passages="x" infons="y"><id>1</id><passage><text>a b</text></passage></document>'
    (tmp_path / "a.xml").write_text(f"<collection>{content}</collection>", encoding="utf-8")
    (found,) = read_bioc(tmp_path / "a.xml", Counts())
    assert found.document == Document("1", "a b", "")


def test_a_tag_of_ever_more_attributes_is_refused_before_libxml2_goes_over_them(tmp_path):
    many = " ".join(f'a{number}="x"' for number in range(200_000))
    (tmp_path / "a.xml").write_text(f"<collection><document {many}/></collection>", encoding="utf-8")
    began = time.process_time()
    with pytest.raises(InputError, match="more than 1000 attributes"):
        list(read_bioc(tmp_path / "a.xml", Counts()))
    assert time.process_time() - began < 2


def test_a_record_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(xml_meter, "LARGEST_CHILD", 2**18)
    inner = "<annotation/>" * 40_000
    (tmp_path / "a.xml").write_text(f"<collection><document>{inner}</document></collection>", encoding="utf-8")
    with pytest.raises(InputError, match="one record has more than"):
        list(read_bioc(tmp_path / "a.xml", Counts()))
    whole = f"<document><id>1</id>{'<annotation/>' * 100}</document>" * 400
    (tmp_path / "b.xml").write_text(f"<collection>{whole}</collection>", encoding="utf-8")
    assert len(list(parse_bioc(tmp_path / "b.xml", Counts()))) == 400


@pytest.mark.parametrize("version", [ENDLESS, "99999999999", "٣", ""])
def test_a_version_of_an_article_that_no_table_holds_is_the_first(tmp_path, version):
    content = article_set(article(5)).replace(b'Version="1"', f'Version="{version}"'.encode())
    (tmp_path / "a.xml").write_bytes(content)
    (found,) = read_pubmed(tmp_path / "a.xml", Counts())
    assert isinstance(found, Citation)
    assert found.article.version == 1


# ---- rows


@pytest.mark.parametrize("place", [ENDLESS, "²", ""])
def test_an_offset_of_endless_digits_is_none(tmp_path, place):
    rows = f"1|t|ab\n1|a|c\n1\t0\t{place}\tab\tChemical\tD1\n\n"
    (tmp_path / "a.txt").write_text(rows, encoding="utf-8")
    books = Counts()
    (found,) = read_pubtator(tmp_path / "a.txt", books)
    assert (found.mentions, books[Reason.ROW_MALFORMED]) == ((), 1)
    for name, content in (("abs", "1\tab\tc\n"), ("ent", f"1\tT1\tCHEMICAL\t0\t{place}\tab\n")):
        (tmp_path / name).write_text(content, encoding="utf-8")
    (found,) = read_chemprot(tmp_path / "abs", tmp_path / "ent", None, books)
    assert (found.mentions, books[Reason.ANNOTATION_WITHOUT_OFFSETS]) == ((), 1)


def test_rows_without_a_title_and_rows_without_end_are_booked_and_not_held(tmp_path, monkeypatch):
    monkeypatch.setattr(pubtator, "_MOST_LINES", 4)
    row = "1\t0\t2\tab\tChemical\tD1\n"
    (tmp_path / "a.txt").write_text(f"{row * 3}1|t|ab\n1|a|c\n{row * 9}\n", encoding="utf-8")
    books = Counts()
    (found,) = read_pubtator(tmp_path / "a.txt", books)
    assert found.document == Document("1", "ab", "c")
    assert (books[Reason.ANNOTATIONS_READ], books[Reason.ROW_MALFORMED]) == (2, 10)


def test_rows_that_are_held_in_memory_have_a_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(chemprot, "_MOST_ROWS", 2)
    (tmp_path / "ent").write_text("1\tT1\tCHEMICAL\t0\t2\tab\n" * 3, encoding="utf-8")
    with pytest.raises(InputError, match="more than 2 rows"):
        list(read_chemprot(tmp_path / "none", tmp_path / "ent", None, Counts()))


@pytest.mark.parametrize(
    "name", ["pubtator", "jsonl", "pmids", "ctd-types", "splits", "pubtator-dump", "relations-jsonl"]
)
def test_a_file_without_line_ends_does_not_fill_the_memory(tmp_path, monkeypatch, name):
    monkeypatch.setattr(files.byte_lines, "__defaults__", (1000,))
    monkeypatch.setattr(files.read_lines, "__defaults__", (1000,))
    reader = READERS[name]
    path = tmp_path / reader.file
    path.write_bytes(reader.seeds()[0].rstrip() + b"\n" + b"x" * 5000)
    with pytest.raises(InputError, match="a line of more than"):
        list(reader.read(path))


def test_a_tree_that_is_read_at_once_has_a_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(mesh_files, "_LARGEST", 100)
    (tmp_path / "a").write_text("Fever;C23.888\n" * 20, encoding="utf-8")
    with pytest.raises(InputError, match="more than"):
        list(read_entries(tmp_path / "a", Counts()))


def test_a_full_disk_is_not_told_as_a_dump_that_cannot_be_read(tmp_path):
    (tmp_path / "dump").write_text("1|t|a\n1|a|b\n\n" * 5000, encoding="utf-8")
    with Path("/dev/full").open("wb", buffering=0) as full, pytest.raises(OSError, match="No space left"):
        filter_dump(tmp_path / "dump", ["1"], full, Counts())


# ---- spans and ids


def test_a_span_that_ends_beyond_the_text_is_not_kept():
    books = Counts()
    document = Document("1", "", "\x80")
    found = check_spans(document, [Mention("1", 1, 3, "\x80", "Chemical", None)], books, "")
    assert [(one.start, one.end) for one in found] == [(1, 2)]
    assert books[Reason.SPAN_REPAIRED_UTF8] == 1


def test_a_document_of_ever_so_many_misplaced_mentions_is_not_searched_for_ever(monkeypatch):
    monkeypatch.setattr(spans, "_SEARCHED", 1000)
    document = Document("1", "a" * 99 + "bc", "")
    books = Counts()
    found = check_spans(document, [Mention("1", 3, 5, "bc", "Chemical", None)] * 30, books, "")
    assert len(found) + books[Reason.MENTION_NOT_SEARCHED] == 30
    assert 5 < len(found) < 15


@pytest.mark.parametrize("raw", ["* D003000", " *D003000", "** D003000 "])
def test_an_id_after_a_star_and_a_blank_is_an_id(raw):
    assert concept_id(raw, "Disease") == "MESH:D003000"


# ---- services


@pytest.mark.parametrize(
    "body",
    [
        DEEP,
        f'{{"esearchresult": {{"count": "{ENDLESS}", "idlist": []}}}}',
        f'{{"esearchresult": {{"count": "1", "idlist": ["{ENDLESS}"]}}}}',
        f'{{"esearchresult": {{"count": {ENDLESS}, "idlist": []}}}}',
    ],
    ids=["deep", "count", "pmid", "number"],
)
def test_an_answer_of_a_search_that_no_number_holds_is_told(tmp_path, body):
    (tmp_path / "a").write_text(body, encoding="utf-8")
    with pytest.raises(FetchError) as told:
        search(Answers(tmp_path / "a"), "q", Counts())
    one_line(told)


def test_an_answer_of_a_search_with_an_odd_list_of_faults_counts(tmp_path):
    result = {"count": "1", "idlist": ["007"], "errorlist": ["phrasesnotfound"]}
    (tmp_path / "a").write_text(json.dumps({"esearchresult": result}), encoding="utf-8")
    assert search(Answers(tmp_path / "a"), "q", Counts()) == ["7"]


def test_an_answer_of_pubtator_that_is_nested_too_deeply_is_told(tmp_path):
    for body in (DEEP, f'{{"a": 1}}\n{DEEP}\n'):
        (tmp_path / "a").write_text(body, encoding="utf-8")
        with pytest.raises(FetchError) as told:
            export(Answers(tmp_path / "a"), ["1"], "biocjson")
        one_line(told)


def test_a_list_of_posted_pmids_is_no_tree_of_megabytes(tmp_path):
    (tmp_path / "a").write_bytes(b"<ePostResult>" + b"<a/>" * 300_000 + b"</ePostResult>")
    with pytest.raises(FetchError, match="an answer of 1200027 bytes"):
        fetch_articles(Answers(tmp_path / "a"), ["1"])


# ---- archives and configurations


@pytest.mark.parametrize(
    "members", [["a", "a/b"], [""], ["x" * 300], ["."]], ids=["under a file", "none", "long", "dot"]
)
def test_an_archive_with_a_name_that_cannot_be_is_told(tmp_path, members):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in members:
            member = zipfile.ZipInfo("placeholder")
            member.filename = name
            archive.writestr(member, b"content")
    with pytest.raises(InputError, match=r"a\.zip") as told:
        unpack(tmp_path / "a.zip", tmp_path / "out")
    one_line(told)


def test_toml_that_is_nested_too_deeply_is_told(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text("input = " + DEEP, encoding="utf-8")
    with pytest.raises((RecursionError, tomllib.TOMLDecodeError)):
        tomllib.loads(path.read_text(encoding="utf-8"))
    with pytest.raises(ConfigError, match="not TOML"):
        load(Tag, {}, path)


def test_no_hostile_file_opens_another(tmp_path):
    """The entity of a file outside, and the DTD of a host, stay what they are."""
    for name in ("bioc-xml", "pubmed", "mesh-terms"):
        reader = READERS[name]
        for case, content in hostile_files(reader.seeds(), 1000):
            if not case.startswith("external"):
                continue
            (tmp_path / reader.file).write_bytes(content())
            try:
                found = repr(list(reader.read(tmp_path / reader.file)))
            except BiorelError as error:
                found = error.message
            assert "root:" not in found
