"""Reading relations from JSON lines and Parquet; bad lines are reported with their number."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from biorel.errors import InputError
from biorel.formats.relations import read_relations, relation_row
from biorel.records import Document
from biorel.tables import write_table
from tests.formats.samples import RELATIONS

GOOD = json.dumps(relation_row(RELATIONS[0]))


def line(**changes):
    return json.dumps(relation_row(RELATIONS[0]) | changes)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.dat"])
def test_accepts_blank_lines_and_additional_fields(write, counts, name):
    path = write(name, f"\n{GOOD}\r\n\n{line(note='mine')}\n")
    assert list(read_relations(path, counts)) == [RELATIONS[0]] * 2


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("{", "not a relation"),
        ("doc_id\thead_id", "not a relation"),
        ("[1]", "not a relation"),
        ("{}", "doc_id: Field required"),
        (line(doc_id=5), "doc_id: "),
        (line(doc_id=" "), "doc_id is empty"),
        (line(head={"id": "MESH:D1", "type": "Chemical"}), "head.name: Field required"),
        (line(tail={"id": "", "type": "Chemical", "name": "a"}), "tail.id is empty"),
        (line(score="much"), "score: "),
        (line(score=None), "score: "),
        (line().replace("0.875", "NaN"), "not a finite number"),
        (line(evidence=[{"head": [1, 2, 3], "tail": [3, 4], "weight": 1, "sentence": [0, 5]}]), "evidence.0.head"),
        (
            line(evidence=[{"head": [2, 1], "tail": [3, 4], "weight": 1, "sentence": [0, 5]}]),
            "a span of the evidence is invalid",
        ),
        (line().replace("Alphadrug", "\\ud83d"), "not a relation"),
        ("[" * 100_000, "not a relation"),
    ],
)
def test_a_bad_line_names_its_place(write, counts, bad, reason):
    path = write("a.jsonl", f"{GOOD}\n\n{bad}\n{GOOD}\n")
    found = read_relations(path, counts)
    assert next(found) == RELATIONS[0]
    with pytest.raises(InputError) as caught:
        next(found)
    assert caught.value.message.startswith(f"{path}:3: ")
    assert reason in caught.value.message
    assert "\n" not in caught.value.message


def test_names_the_number_of_a_bad_parquet_row(tmp_path, counts):
    path = tmp_path / "a.parquet"
    write_table(path, type(RELATIONS[0]), [RELATIONS[0], replace(RELATIONS[1], score=float("inf"))])
    with pytest.raises(InputError, match="row 2: "):
        list(read_relations(path, counts))


def test_rejects_damaged_parquet_and_other_tables(tmp_path, counts):
    damaged, other = tmp_path / "a.parquet", tmp_path / "b.parquet"
    damaged.write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match="not a Parquet file"):
        list(read_relations(damaged, counts))
    write_table(other, Document, [Document("1", "A", "b")])
    with pytest.raises(InputError, match="columns"):
        list(read_relations(other, counts))


def test_rejects_a_missing_file(tmp_path, counts):
    with pytest.raises(InputError, match="no such file"):
        list(read_relations(tmp_path / "none.jsonl", counts))
