"""Inputs found by the fuzzers and property tests that once broke a reader."""

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


def assert_one_line(error) -> None:
    message = str(error.value.message)
    assert "\n" not in message
    assert len(message) < 700


# ---- tables


def test_a_damaged_page_of_a_table_is_reported_in_one_line(tmp_path):
    path = tmp_path / "documents.parquet"
    write_table(path, Document, [Document(str(number), "t" * number, "a") for number in range(99)])
    content = bytearray(path.read_bytes())
    content[4:60] = bytes(56)
    path.write_bytes(content)
    with pytest.raises(InputError, match="damaged") as error:
        list(read_table(path, Document))
    assert_one_line(error)


def test_reads_a_table_with_compatible_types_and_rejects_other_types(tmp_path):
    path = tmp_path / "documents.parquet"
    texts = pa.array(["a title"], pa.large_string())
    pq.write_table(pa.table({"doc_id": [227508], "title": texts, "abstract": texts.dictionary_encode()}), path)
    assert list(read_table(path, Document)) == [Document("227508", "a title", "a title")]
    pq.write_table(pa.table({"doc_id": ["1"], "title": [["a"]], "abstract": texts}), path)
    with pytest.raises(InputError, match=r"documents\.parquet"):
        list(read_table(path, Document))


def test_a_missing_text_in_a_table_does_not_become_the_string_none(tmp_path):
    path = tmp_path / "documents.parquet"
    pq.write_table(pa.table({"doc_id": ["1"], "title": ["t"], "abstract": pa.array([None], pa.string())}), path)
    with pytest.raises(InputError, match="some rows have no value for abstract"):
        list(read_table(path, Document))


def test_counts_mentions_of_a_table_whose_span_does_not_match_their_text(tmp_path):
    write_table(tmp_path / "documents.parquet", Document, [Document("1", "Title 1", "")])
    rows = [Mention("1", start, end, "Title", "Chemical", None) for start, end in ((0, 5), (32, 5), (0, 99))]
    write_table(tmp_path / "mentions.parquet", Mention, [*rows, Mention("1", 0, 3, "gone", "Chemical", None)])
    counts = Counts()
    ((_, found),) = read_records(tmp_path, counts)
    assert found.mentions == (rows[0],)
    assert counts[Reason.SPAN_REPAIRED_UNIQUE_TEXT] == counts[Reason.MENTION_REPEATED] == 2
    assert counts[Reason.MENTION_SPAN_MISMATCH] == 1


# ---- JSON


@pytest.mark.parametrize(
    "line", [DEEP, '{"head": 1, "tail": ' + DEEP, '{"doc_id": "1", "head": "\\ud83d", "tail": "D1"}']
)
def test_a_prediction_with_deep_nesting_or_invalid_text_is_a_malformed_row(tmp_path, line):
    (tmp_path / "a.jsonl").write_text(f"{json.dumps(RELATION)}\n{line}\n", encoding="utf-8")
    counts = Counts()
    found = read_predictions(tmp_path / "a.jsonl", counts).facts
    assert found == (("1", "MESH:D1", "r", "MESH:D2"), ("", "", "", ""))
    assert counts[Reason.ROW_MALFORMED] == 1


def test_rejects_a_relation_with_an_offset_beyond_32_bits(tmp_path):
    evidence = {"head": [0, 2**31], "tail": [0, 1], "weight": 1, "sentence": [0, 1]}
    (tmp_path / "a.jsonl").write_text(json.dumps(RELATION | {"evidence": [evidence]}), encoding="utf-8")
    with pytest.raises(InputError, match="a span of the evidence is invalid"):
        list(read_relations(tmp_path / "a.jsonl", Counts()))


@pytest.mark.parametrize("value", ['{"documents": ' + "[" * 900 + "]" * 900 + "}", "[" * 900 + "]" * 900])
def test_rejects_deeply_nested_lists_in_bioc_json(tmp_path, value):
    (tmp_path / "a.json").write_text(value, encoding="utf-8")
    with pytest.raises(InputError, match=r"no document|too deeply"):
        list(read_bioc(tmp_path / "a.json", Counts()))


def test_ignores_nested_lists_in_an_infon(tmp_path):
    infons = '{"type": ' + "[" * 400 + "]" * 400 + ', "identifier": ["D1", ["D2"]]}'
    mark = f'{{"id": "1", "infons": {infons}, "text": "ab", "locations": [{{"offset": 0, "length": 2}}]}}'
    passage = f'{{"offset": 0, "text": "ab cd", "annotations": [{mark}]}}'
    (tmp_path / "a.json").write_text(f'{{"id": "1", "passages": [{passage}]}}', encoding="utf-8")
    (found,) = read_bioc(tmp_path / "a.json", Counts())
    assert [(mention.type, mention.entity_id) for mention in found.mentions] == [("", "D1")]


@pytest.mark.parametrize(
    ("module", "bound", "message"),
    [(bioc_parse, "_MOST_NODES", "more than 5 passages"), (json_size, "MOST_VALUES", "too large")],
)
def test_rejects_bioc_json_that_would_fill_the_memory(tmp_path, monkeypatch, module, bound, message):
    monkeypatch.setattr(module, bound, 5)
    (tmp_path / "a.json").write_text('{"id": "1", "passages": [{}, {}, {}, {}, {}, {}]}', encoding="utf-8")
    with pytest.raises(InputError, match=message):
        list(parse_bioc(tmp_path / "a.json", Counts()))


# ---- XML


def test_ignores_an_attribute_named_like_a_list(tmp_path):
    content = '<document passages="x" infons="y"><id>1</id><passage><text>a b</text></passage></document>'
    (tmp_path / "a.xml").write_text(f"<collection>{content}</collection>", encoding="utf-8")
    (found,) = read_bioc(tmp_path / "a.xml", Counts())
    assert found.document == Document("1", "a b", "")


def test_rejects_a_tag_with_many_attributes_before_libxml2_reads_them(tmp_path):
    many = " ".join(f'a{number}="x"' for number in range(200_000))
    (tmp_path / "a.xml").write_text(f"<collection><document {many}/></collection>", encoding="utf-8")
    start = time.process_time()
    with pytest.raises(InputError, match="more than 1000 attributes"):
        list(read_bioc(tmp_path / "a.xml", Counts()))
    assert time.process_time() - start < 2


def test_rejects_an_endless_record(tmp_path, monkeypatch):
    monkeypatch.setattr(xml_meter, "LARGEST_CHILD", 2**18)
    inner = "<annotation/>" * 40_000
    (tmp_path / "a.xml").write_text(f"<collection><document>{inner}</document></collection>", encoding="utf-8")
    with pytest.raises(InputError, match="one record has more than"):
        list(read_bioc(tmp_path / "a.xml", Counts()))
    whole = f"<document><id>1</id>{'<annotation/>' * 100}</document>" * 400
    (tmp_path / "b.xml").write_text(f"<collection>{whole}</collection>", encoding="utf-8")
    assert len(list(parse_bioc(tmp_path / "b.xml", Counts()))) == 400


@pytest.mark.parametrize("version", [ENDLESS, "99999999999", "٣", ""])
def test_an_invalid_article_version_becomes_version_1(tmp_path, version):
    content = article_set(article(5)).replace(b'Version="1"', f'Version="{version}"'.encode())
    (tmp_path / "a.xml").write_bytes(content)
    (found,) = read_pubmed(tmp_path / "a.xml", Counts())
    assert isinstance(found, Citation)
    assert found.article.version == 1


# ---- rows


@pytest.mark.parametrize("place", [ENDLESS, "²", ""])
def test_an_invalid_offset_is_counted_and_gives_no_mention(tmp_path, place):
    rows = f"1|t|ab\n1|a|c\n1\t0\t{place}\tab\tChemical\tD1\n\n"
    (tmp_path / "a.txt").write_text(rows, encoding="utf-8")
    counts = Counts()
    (found,) = read_pubtator(tmp_path / "a.txt", counts)
    assert (found.mentions, counts[Reason.ROW_MALFORMED]) == ((), 1)
    for name, content in (("abs", "1\tab\tc\n"), ("ent", f"1\tT1\tCHEMICAL\t0\t{place}\tab\n")):
        (tmp_path / name).write_text(content, encoding="utf-8")
    (found,) = read_chemprot(tmp_path / "abs", tmp_path / "ent", None, counts)
    assert (found.mentions, counts[Reason.ANNOTATION_WITHOUT_OFFSETS]) == ((), 1)


def test_counts_rows_without_a_title_and_rows_beyond_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(pubtator, "_MOST_LINES", 4)
    row = "1\t0\t2\tab\tChemical\tD1\n"
    (tmp_path / "a.txt").write_text(f"{row * 3}1|t|ab\n1|a|c\n{row * 9}\n", encoding="utf-8")
    counts = Counts()
    (found,) = read_pubtator(tmp_path / "a.txt", counts)
    assert found.document == Document("1", "ab", "c")
    assert (counts[Reason.ANNOTATIONS_READ], counts[Reason.ROW_MALFORMED]) == (2, 10)


def test_limits_the_rows_held_in_memory(tmp_path, monkeypatch):
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
    with pytest.raises(InputError, match=r"the line is too long \(more than"):
        list(reader.read(path))


def test_limits_the_size_of_a_mesh_tree(tmp_path, monkeypatch):
    monkeypatch.setattr(mesh_files, "_LARGEST", 100)
    (tmp_path / "a").write_text("Fever;C23.888\n" * 20, encoding="utf-8")
    with pytest.raises(InputError, match="more than"):
        list(read_entries(tmp_path / "a", Counts()))


def test_a_full_disk_is_not_reported_as_an_unreadable_dump(tmp_path):
    (tmp_path / "dump").write_text("1|t|a\n1|a|b\n\n" * 5000, encoding="utf-8")
    with Path("/dev/full").open("wb", buffering=0) as full, pytest.raises(OSError, match="No space left"):
        filter_dump(tmp_path / "dump", ["1"], full, Counts())


# ---- spans and ids


def test_a_span_that_ends_beyond_the_text_is_not_kept():
    counts = Counts()
    document = Document("1", "", "\x80")
    found = check_spans(document, [Mention("1", 1, 3, "\x80", "Chemical", None)], counts, "")
    assert [(mention.start, mention.end) for mention in found] == [(1, 2)]
    assert counts[Reason.SPAN_REPAIRED_UTF8] == 1


def test_limits_the_search_for_misplaced_mentions_of_a_document(monkeypatch):
    monkeypatch.setattr(spans, "_SEARCHED", 1000)
    document = Document("1", "a" * 99 + "bc", "")
    counts = Counts()
    found = check_spans(document, [Mention("1", 3, 5, "bc", "Chemical", None)] * 30, counts, "")
    assert len(found) + counts[Reason.MENTION_NOT_SEARCHED] == 30
    assert 5 < len(found) < 15


@pytest.mark.parametrize("raw", ["* D003000", " *D003000", "** D003000 "])
def test_reads_an_id_after_a_star_and_a_blank(raw):
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
def test_reports_a_search_result_with_invalid_numbers_in_one_line(tmp_path, body):
    (tmp_path / "a").write_text(body, encoding="utf-8")
    with pytest.raises(FetchError) as error:
        search(Answers(tmp_path / "a"), "q", Counts())
    assert_one_line(error)


def test_accepts_a_search_result_with_an_unusual_error_list(tmp_path):
    result = {"count": "1", "idlist": ["007"], "errorlist": ["phrasesnotfound"]}
    (tmp_path / "a").write_text(json.dumps({"esearchresult": result}), encoding="utf-8")
    assert search(Answers(tmp_path / "a"), "q", Counts()) == ["7"]


def test_reports_a_deeply_nested_answer_of_pubtator_in_one_line(tmp_path):
    for body in (DEEP, f'{{"a": 1}}\n{DEEP}\n'):
        (tmp_path / "a").write_text(body, encoding="utf-8")
        with pytest.raises(FetchError) as error:
            export(Answers(tmp_path / "a"), ["1"], "biocjson")
        assert_one_line(error)


def test_rejects_a_huge_answer_of_epost(tmp_path):
    (tmp_path / "a").write_bytes(b"<ePostResult>" + b"<a/>" * 300_000 + b"</ePostResult>")
    with pytest.raises(FetchError, match=r"the answer is too long \(1200027 bytes\)"):
        fetch_articles(Answers(tmp_path / "a"), ["1"])


# ---- archives and configurations


@pytest.mark.parametrize(
    "members", [["a", "a/b"], [""], ["x" * 300], ["."]], ids=["under a file", "empty", "long", "dot"]
)
def test_reports_an_archive_with_an_invalid_name_in_one_line(tmp_path, members):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in members:
            member = zipfile.ZipInfo("placeholder")
            member.filename = name
            archive.writestr(member, b"content")
    with pytest.raises(InputError, match=r"a\.zip") as error:
        unpack(tmp_path / "a.zip", tmp_path / "out")
    assert_one_line(error)


def test_reports_deeply_nested_toml(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text("input = " + DEEP, encoding="utf-8")
    with pytest.raises((RecursionError, tomllib.TOMLDecodeError)):
        tomllib.loads(path.read_text(encoding="utf-8"))
    with pytest.raises(ConfigError, match="not TOML"):
        load(Tag, {}, path)


def test_external_entities_and_dtds_are_not_opened(tmp_path):
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
