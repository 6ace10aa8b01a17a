"""Q: ids of mixed types in one column, and tables with more text than a 32-bit offset can address."""

from __future__ import annotations

import ast
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from biorel import tables
from biorel.commands import extract
from biorel.config.extract import Extract
from biorel.formats.jsonl import read_jsonl
from biorel.formats.predictions import read_predictions
from biorel.records import Document
from biorel.tables import read_table, write_table
from tests.command_runs import command_line, flags, pubtator, read_json, read_json_lines
from tests.test_architecture import TREES

IDS = [(12345678, "12345678"), ("PMC99", "PMC99"), ("0012", "0012"), (0, "0"), (" 7 ", "7")]


def lines(*ids: object) -> str:
    return "".join(json.dumps({"pmid": pmid, "title": "Zetin.", "abstract": ""}) + "\n" for pmid in ids)


def test_q_02_writes_all_ids_as_text(write, tmp_path):
    source = write("a.jsonl", lines(*(raw for raw, _ in IDS)))
    given = {"input": source, "out": tmp_path / "r.parquet", "tagger": "none"}
    extract.run(Extract.model_validate(given))
    statuses = read_json_lines(tmp_path / "r.parquet.status.jsonl")
    assert [row["doc_id"] for row in statuses] == [id_ for _, id_ in IDS]
    assert pq.read_schema(tmp_path / "r.parquet").field("doc_id").type == pa.string()


@pytest.mark.parametrize("bad", [True, 12345678.0, [1], {"a": 1}])
def test_q_02_reports_an_invalid_id_with_its_line(write, counts, bad):
    (_, first), (number, record) = read_jsonl(write("a.jsonl", lines("0012", bad)), counts)
    assert first.document.doc_id == "0012"
    assert number == record.line == 2
    assert "pmid must be a string or a whole number" in record.reason


@pytest.mark.parametrize(("head", "right"), [(367, 1), ("367", 1), ("NCBIGene:367", 1), (367.0, 0), (True, 0)])
def test_q_02_reads_ids_of_predictions_as_text(write, capsys, tmp_path, head, right):
    marks = [("AR", "Gene", "367"), ("tremor", "Disease", "D900002")]
    gold = write("g.txt", pubtator("12", "AR and tremor.", "x", marks, [("367", "D900002")], word="association"))
    row = {"doc_id": 12, "head": {"id": head, "type": "Gene"}, "relation": "association", "tail": {"id": "D900002"}}
    sound = row | {"tail": {"id": "D900007"}, "head": "NCBIGene:367"}
    predictions = write("p.jsonl", "".join(json.dumps(line) + "\n" for line in (row, sound)))
    given = flags(predictions=predictions, gold=gold, out=tmp_path / "e")
    code, _, err = command_line(capsys, "evaluate", *given)
    assert code == 0, err
    metrics = read_json(tmp_path / "e" / "metrics.json")
    assert metrics["micro"]["true_positives"] == right
    assert metrics["rows"]["malformed"] == 1 - right


@pytest.mark.parametrize("bad", [12.0, True, [12]])
def test_q_02_counts_a_prediction_with_an_invalid_id_as_malformed(write, counts, bad):
    row = {"doc_id": bad, "head": "D900001", "relation": "r", "tail": "D900002"}
    content = "".join(json.dumps(line) + "\n" for line in (row, row | {"doc_id": 12}))
    found = read_predictions(write("p.jsonl", content), counts).facts
    assert found == (("", "", "", ""), ("12", "MESH:D900001", "r", "MESH:D900002"))


def documents(count: int, length: int) -> list[Document]:
    return [Document(str(number), "T.", "x" * length) for number in range(count)]


@pytest.mark.parametrize(
    ("count", "length", "groups"), [(10, 100, 3), (4, 1000, 4), (10, 1, 1)], ids=["some", "each alone", "all in one"]
)
def test_q_03_row_groups_hold_a_bounded_number_of_characters(tmp_path, monkeypatch, count, length, groups):
    monkeypatch.setattr(tables, "CHARACTERS_PER_GROUP", 400)
    path = tmp_path / "d.parquet"
    rows = documents(count, length)
    write_table(path, Document, rows)
    file = pq.ParquetFile(path)
    assert file.num_row_groups == groups
    assert all(file.metadata.row_group(group).num_rows * length <= 400 + length for group in range(groups))
    assert list(read_table(path, Document)) == rows


def test_q_03_reads_one_row_group_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "CHARACTERS_PER_GROUP", 300)
    write_table(tmp_path / "d.parquet", Document, documents(9, 99))
    sizes = []
    whole = pq.ParquetFile.iter_batches

    def noted(self, **options):
        for batch in whole(self, **options):
            sizes.append(batch.num_rows)
            yield batch

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", noted)
    assert len(list(read_table(tmp_path / "d.parquet", Document))) == 9
    assert sizes == [3, 3, 3]


def test_q_03_never_joins_all_text_into_one_chunk():
    calls = {name for tree in TREES.values() for name in map(str, _names(tree))}
    assert not calls & {"combine_chunks", "concat_tables"}


def _names(tree):

    return (node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute))
