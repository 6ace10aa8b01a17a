"""aggregate: triples of hand-made relations in both formats, and its errors."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from biorel.commands import aggregate
from biorel.config.aggregate import Aggregate
from biorel.counts import Reason
from biorel.errors import ConfigError, InputError, OutputError
from biorel.formats.relations import relation_row
from biorel.records import CorpusTriple, Entity, Evidence, Relation
from biorel.tables import read_table
from tests.command_runs import command_line

TEXT = "Lithium tremor. It shook."


def extracted(
    doc_id: str, head: str, tail: str, score: float, *, name: str = "lithium", weight: float = 0.7
) -> Relation:
    evidence = (Evidence((0, 7), (8, 14), weight, (0, 16)), Evidence((0, 7), (19, 24), 1 - weight, (0, 25)))
    return Relation(
        doc_id, Entity(head, "Chemical", name), "induces", Entity(tail, "Disease", "tremor"), score, evidence
    )


RELATIONS = [
    extracted("1", "MESH:C1", "MESH:D1", 0.9),
    extracted("1", "MESH:C1", "MESH:D1", 0.4, name="Li"),
    extracted("2", "MESH:C1", "MESH:D1", 0.5),
    extracted("2", "MESH:C1", "MESH:D2", 0.8),
    extracted("3", "MESH:C2", "MESH:D1", 0.2, name="=sum"),
]


def relations_file(path: Path, relations: list[Relation] = RELATIONS) -> Path:
    path.write_text("".join(json.dumps(relation_row(one)) + "\n" for one in relations), encoding="utf-8")
    return path


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, dialect="excel-tab"))


def test_triples_have_a_vote_their_support_and_the_best_evidence(tmp_path):
    source = relations_file(tmp_path / "r.jsonl")
    out = aggregate.run(Aggregate(relations=(source,), out=tmp_path / "t.parquet")).path
    first, *others = list(read_table(out, CorpusTriple))
    assert first.score == pytest.approx((0.81 + 0.25) / (1 + 1.4))
    assert (first.support, first.documents, first.best_document) == (2, ("1", "2"), "1")
    assert first.best_score == pytest.approx(0.9)
    assert first.head == {"id": "MESH:C1", "type": "Chemical", "name": "lithium"}
    assert first.evidence["head"] == [0, 7]
    assert [triple.support for triple in others] == [1, 1]


def test_tsv_also_holds_the_evidence_sentence(tmp_path):
    source = relations_file(tmp_path / "r.jsonl")
    documents = tmp_path / "d.jsonl"
    documents.write_text(json.dumps({"id": "1", "text": TEXT}) + "\n", encoding="utf-8")
    made = aggregate.run(Aggregate(relations=(source,), documents=(documents,), out=tmp_path / "t.tsv"))
    first, second, third = rows(made.path)
    assert (first["sentence"], first["evidence_sentence"]) == ("Lithium tremor.", "0-16")
    assert (second["sentence"], second["documents"]) == ("", "2")
    assert third["head_name"] == "'=sum"
    assert f"{Reason.EVIDENCE_DOCUMENT_MISSING}: 2" in made.summary
    assert f"{Reason.RELATION_REPEATED}: 1" in made.summary


def test_two_files_with_the_same_document_support_a_triple_once(tmp_path):
    files = (relations_file(tmp_path / "a.jsonl"), relations_file(tmp_path / "b.jsonl"))
    alone = aggregate.run(Aggregate(relations=files[:1], out=tmp_path / "one.tsv")).path
    both = aggregate.run(Aggregate(relations=files, out=tmp_path / "two.tsv")).path
    assert alone.read_text() == both.read_text()


def test_limits_leave_out_weaker_triples(tmp_path):
    source = relations_file(tmp_path / "r.jsonl")
    out = aggregate.run(Aggregate(relations=(source,), out=tmp_path / "t.tsv", min_support=2)).path
    assert [row["tail_id"] for row in rows(out)] == ["MESH:D1"]
    out = aggregate.run(Aggregate(relations=(source,), out=tmp_path / "u.tsv", min_score=0.6)).path
    assert {(row["tail_id"], row["support"]) for row in rows(out)} == {("MESH:D1", "1"), ("MESH:D2", "1")}


def test_no_relations_give_an_empty_table(tmp_path):
    source = relations_file(tmp_path / "r.jsonl", [])
    assert rows(aggregate.run(Aggregate(relations=(source,), out=tmp_path / "t.tsv")).path) == []
    assert (
        list(read_table(aggregate.run(Aggregate(relations=(source,), out=tmp_path / "t.parquet")).path, CorpusTriple))
        == []
    )


def test_an_error_leaves_no_output(tmp_path):
    source = relations_file(tmp_path / "r.jsonl")
    with pytest.raises(ConfigError, match="unknown output format"):
        aggregate.run(Aggregate(relations=(source,), out=tmp_path / "t.csv"))
    with pytest.raises(OutputError, match="is an input"):
        aggregate.run(Aggregate(relations=(source,), out=source, format="tsv"))
    broken = tmp_path / "broken.jsonl"
    broken.write_text(source.read_text() + "{}\n")
    with pytest.raises(InputError, match=r"broken\.jsonl:6: not a relation"):
        aggregate.run(Aggregate(relations=(broken,), out=tmp_path / "t.tsv"))
    assert not (tmp_path / "t.tsv").exists()


def test_the_command_line_takes_several_files(tmp_path, capsys):
    a, b = relations_file(tmp_path / "a.jsonl", RELATIONS[:2]), relations_file(tmp_path / "b.jsonl", RELATIONS[2:])
    code, output, _ = command_line(capsys, "aggregate", a, b, "--out", tmp_path / "t.tsv", "--vote", "sum")
    assert (code, output.splitlines()[-1]) == (0, f"triples: {tmp_path / 't.tsv'}")
    assert float(rows(tmp_path / "t.tsv")[0]["score"]) == pytest.approx(1.4)
    code, _, errors = command_line(capsys, "aggregate", a, "--out", tmp_path / "t.tsv")
    assert (code, "exists already" in errors) == (5, True)
