"""extract: what a relation and a status row say, that nothing is cut, and what becomes of bad input."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zlib import crc32

import pandas as pd
import pytest
import torch

from biorel.commands import evaluate, extract
from biorel.config.evaluate import Evaluate
from biorel.config.extract import Extract
from biorel.counts import Counts, Reason
from biorel.errors import ConfigError, InputError, OutputError
from biorel.extraction.annotator import Annotator
from biorel.formats.documents import read_records
from biorel.model.bran import Bran
from biorel.ner.bran_tagger import BranTagger
from biorel.records import Annotated, Document, Mention, Score
from biorel.tables import read_table
from biorel.training.model_folder import open_model
from tests.command_runs import (
    SAMPLE,
    command_line,
    read_json,
    read_json_lines,
    sample_documents,
    talkative,
    tiny_model,
)
from tests.recorder import Recorder

Row = dict[str, Any]
# all three types, a pair within one sentence and one across
STORY: Row = {
    "pmid": "227508",
    "title": "Aspirin and gastric ulcer.",
    "abstract": "Aspirin blocks COX2. Two weeks later a gastric ulcer bled, and aspirin was stopped.",
    "entities": [
        {"start": 0, "end": 7, "type": "Chemical", "id": "MESH:D001241"},
        {"start": 12, "end": 25, "type": "Disease", "id": "MESH:D013276"},
        {"start": 27, "end": 34, "type": "Chemical", "id": "MESH:D001241"},
        {"start": 42, "end": 46, "type": "Gene", "id": "NCBIGene:5743"},
        {"start": 66, "end": 79, "type": "Disease", "id": "MESH:D013276"},
        {"start": 90, "end": 97, "type": "Chemical", "id": "MESH:D001241"},
    ],
}


def text_of(row: Row) -> str:
    return f"{row['title']} {row['abstract']}"


def story(doc_id: str, **changes: Any) -> Row:
    return {**STORY, "pmid": doc_id, **changes}


def lines(*rows: Row | str) -> str:
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)


def sample_rows(count: int) -> list[Row]:
    return read_json_lines(SAMPLE / "abstracts.jsonl")[:count]


def run(model: Path, source: Path, out: Path, **options: Any) -> tuple[list[Row], list[Row]]:
    """Relations and status rows of an extraction into JSON lines, of the entities that the records bring."""
    given = {"input": source, "model": model, "out": out, "tagger": "none", **options}
    summary = extract.run(Extract.model_validate(given))
    assert summary.path == out
    return read_json_lines(out), read_json_lines(summary.details["status"])


def scores(relations: Sequence[Row]) -> dict[tuple[str, str, str, str], float]:
    found = {(row["doc_id"], row["head"]["id"], row["tail"]["id"], row["relation"]): row["score"] for row in relations}
    assert len(found) == len(relations), "a relation is reported twice"
    return found


# ---- what a relation says


def test_a_relation_has_the_documented_fields(model, write, tmp_path):
    relations, _ = run(model, write("a.jsonl", lines(STORY)), tmp_path / "r.jsonl", min_score=0)
    assert {(row["head"]["id"], row["tail"]["id"]) for row in relations} == {
        ("MESH:D001241", "MESH:D013276"),
        ("NCBIGene:5743", "MESH:D013276"),
        ("MESH:D001241", "NCBIGene:5743"),
    }
    assert len(relations) == 3
    for row in relations:
        assert list(row) == ["doc_id", "head", "relation", "tail", "score", "evidence"]
        assert row["doc_id"] == "227508"
        assert list(row["head"]) == list(row["tail"]) == ["id", "type", "name"]
        assert isinstance(row["score"], float)
        assert 0 < row["score"] < 1
        for evidence in row["evidence"]:
            assert list(evidence) == ["head", "tail", "weight", "sentence"]
            assert all(len(evidence[name]) == 2 for name in ("head", "tail", "sentence"))
    names = {
        (entity["id"], entity["type"], entity["name"]) for row in relations for entity in (row["head"], row["tail"])
    }
    assert names == {
        ("MESH:D001241", "Chemical", "Aspirin"),
        ("MESH:D013276", "Disease", "gastric ulcer"),
        ("NCBIGene:5743", "Gene", "COX2"),
    }


def test_evidence_refers_to_mentions_and_its_weights_sum_to_one(model, tmp_path):
    rows = {row["pmid"]: row for row in sample_rows(8)}
    source = tmp_path / "a.jsonl"
    source.write_text(lines(*rows.values()), encoding="utf-8")
    relations, _ = run(model, source, tmp_path / "r.jsonl", min_score=0, max_evidence=10_000)
    several = 0
    for relation in relations:
        row = rows[relation["doc_id"]]
        ids = {relation[side]["id"].split(":")[-1] for side in ("head", "tail")}
        mentions = {
            (entity["start"], entity["end"]): text_of(row)[entity["start"] : entity["end"]]
            for entity in row["entities"]
            # the file writes gene ids without a namespace
            if entity["id"] and entity["id"].split(":")[-1] in ids
        }
        of_head = {tuple(evidence["head"]) for evidence in relation["evidence"]}
        of_tail = {tuple(evidence["tail"]) for evidence in relation["evidence"]}
        assert of_head | of_tail == set(mentions)
        assert not of_head & of_tail
        assert len(relation["evidence"]) == len(of_head) * len(of_tail)
        assert relation["head"]["name"] == mentions[min(of_head)]
        assert relation["tail"]["name"] == mentions[min(of_tail)]
        weights = [evidence["weight"] for evidence in relation["evidence"]]
        assert sum(weights) == pytest.approx(1, abs=1e-5 * len(weights))
        assert weights == sorted(weights, reverse=True)
        several += len(weights) > 1
        for evidence in relation["evidence"]:
            begin, end = evidence["sentence"]
            assert 0 <= begin <= min(evidence["head"][0], evidence["tail"][0])
            assert max(evidence["head"][1], evidence["tail"][1]) <= end <= len(text_of(row))
    assert several > 10


def test_evidence_gives_whole_sentences(model, write, tmp_path):
    relations, _ = run(model, write("a.jsonl", lines(STORY)), tmp_path / "r.jsonl", min_score=0)
    text = text_of(STORY)
    sentences = {
        (text[slice(*evidence["head"])], evidence["head"][0], evidence["tail"][0]): text[slice(*evidence["sentence"])]
        for row in relations
        for evidence in row["evidence"]
    }
    assert sentences["Aspirin", 0, 12].strip() == STORY["title"]
    assert sentences["Aspirin", 27, 42].strip() == "Aspirin blocks COX2."
    assert sentences["Aspirin", 27, 66].strip() == STORY["abstract"]


def test_reports_only_the_strongest_evidence(model, write, tmp_path):
    source = write("a.jsonl", lines(STORY))
    whole = {key: row for row in run(model, source, tmp_path / "w.jsonl", min_score=0)[0] for key in scores([row])}
    for limit in (1, 3):
        for row in run(model, source, tmp_path / f"{limit}.jsonl", min_score=0, max_evidence=limit)[0]:
            (key,) = scores([row])
            assert row["evidence"] == whole[key]["evidence"][:limit]


def test_relations_are_sorted_by_document_and_score(model, tmp_path):
    source = tmp_path / "a.jsonl"
    source.write_text(lines(*reversed(sample_rows(5))), encoding="utf-8")
    relations, statuses = run(model, source, tmp_path / "r.jsonl", all_scores=True)
    order = [row["doc_id"] for row in statuses]
    assert order == [row["pmid"] for row in reversed(sample_rows(5))]
    assert list(dict.fromkeys(row["doc_id"] for row in relations)) == order
    for doc_id in order:
        of_document = [row["score"] for row in relations if row["doc_id"] == doc_id]
        assert of_document == sorted(of_document, reverse=True)


# ---- which relations are reported


@pytest.fixture(scope="module")
def every_score(model: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str, str, str], float]:
    """The scores of all pairs of five documents of the sample."""
    folder = tmp_path_factory.mktemp("scores")
    (folder / "a.jsonl").write_text(lines(*sample_rows(5)), encoding="utf-8")
    return scores(run(model, folder / "a.jsonl", folder / "r.jsonl", all_scores=True)[0])


@pytest.fixture
def five(tmp_path: Path) -> Path:
    """Five documents of the sample."""
    (tmp_path / "five.jsonl").write_text(lines(*sample_rows(5)), encoding="utf-8")
    return tmp_path / "five.jsonl"


def best_of_pairs(every_score: dict[tuple[str, str, str, str], float]) -> dict[tuple[str, str, str], tuple[str, float]]:
    best: dict[tuple[str, str, str], tuple[str, float]] = {}
    for (doc_id, head, tail, relation), score in every_score.items():
        if score > best.get((doc_id, head, tail), ("", -1.0))[1]:
            best[doc_id, head, tail] = (relation, score)
    return best


def test_all_scores_reports_every_relation_of_every_pair(model, every_score):
    types = {"chemical_disease": 2, "gene_disease": 1, "chemical_gene": 10}
    expected = 0
    for row in sample_rows(5):
        entities = {(entity["id"], entity["type"].lower()) for entity in row["entities"] if entity["id"]}
        for name, relations in types.items():
            head, tail = name.split("_")
            heads, tails = (sum(type_ == wanted for _, type_ in entities) for wanted in (head, tail))
            expected += heads * tails * relations
    assert len(every_score) == expected
    assert all(0 <= score <= 1 for score in every_score.values())


def test_uses_the_thresholds_of_the_model_by_default(model, five, every_score, tmp_path):
    thresholds = read_json(model / "thresholds.json")
    expected = {
        (*key, relation)
        for key, (relation, score) in best_of_pairs(every_score).items()
        if score >= thresholds[relation]
    }
    relations, _ = run(model, five, tmp_path / "r.jsonl")
    assert set(scores(relations)) == expected
    assert 0 < len(expected) < len(best_of_pairs(every_score))


def test_min_score_replaces_the_thresholds(model, five, every_score, tmp_path):
    best = best_of_pairs(every_score)
    middle = sorted(score for _, score in best.values())[len(best) // 2]
    relations, _ = run(model, five, tmp_path / "r.jsonl", min_score=middle)
    assert set(scores(relations)) == {(*key, name) for key, (name, score) in best.items() if score >= middle}
    everything, _ = run(model, five, tmp_path / "all.jsonl", min_score=0)
    assert len(everything) == len(best)


def test_scores_equal_those_of_evaluate(model, dataset, tmp_path):
    evaluate.run(Evaluate.model_validate({"model": model, "dataset": dataset, "out": tmp_path / "e", "plots": False}))
    expected = {
        (row.doc_id, row.head_id, row.tail_id, row.relation): row.score
        for row in read_table(tmp_path / "e" / "scores.parquet", Score)
        if row.score > 0
    }
    wanted = {doc_id for doc_id, *_ in expected}
    source = tmp_path / "test.txt"
    source.write_text("".join(block for block in sample_documents() if block.split("|")[0] in wanted), encoding="utf-8")
    relations, statuses = run(model, source, tmp_path / "r.jsonl", all_scores=True)
    assert {row["doc_id"] for row in statuses} == wanted
    found = scores(relations)
    assert set(found) == set(expected)
    assert found == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("batch_tokens", [1, 800, 100_000])
def test_relations_do_not_depend_on_batches_or_order(model, five, every_score, tmp_path, batch_tokens):
    backwards = tmp_path / "backwards.jsonl"
    backwards.write_text(lines(*reversed(sample_rows(5))), encoding="utf-8")
    relations, _ = run(model, backwards, tmp_path / "r.jsonl", all_scores=True, batch_tokens=batch_tokens)
    assert scores(relations) == pytest.approx(every_score, abs=2e-6)


# ---- what is read


def test_the_same_documents_in_every_format_give_the_same_relations(model, five, every_score, tmp_path):
    wanted = {row["pmid"] for row in sample_rows(5)}
    pubtator = tmp_path / "five.pubtator.gz"
    chosen = "".join(block for block in sample_documents() if block.split("|")[0] in wanted)
    pubtator.write_bytes(gzip.compress(chosen.encode()))
    of_pubtator, _ = run(model, pubtator, tmp_path / "p.jsonl", all_scores=True)
    assert scores(of_pubtator) == pytest.approx(every_score, abs=2e-6)
    texts = [
        {"id": row["pmid"], "text": text_of(row), "entities": row["entities"]} for row in sample_rows(5)
    ]  # the title is recovered from the text alone
    whole = tmp_path / "texts.ndjson"
    whole.write_text(lines(*texts), encoding="utf-8")
    assert set(scores(run(model, whole, tmp_path / "t.jsonl", all_scores=True)[0])) == set(every_score)


def test_writes_a_status_row_for_every_record(model, write, tmp_path):
    unlinked = [{"start": 0, "end": 7, "type": "Chemical"}, {"start": 12, "end": 25, "type": "Disease", "id": "-"}]
    records: list[Row | str] = [
        story("1"),
        story("2", entities=[]),
        story("3", entities=unlinked),
        story("4", entities=STORY["entities"][:1]),
        '{"pmid": "5", "title": "cut short',
        story("1"),
        story("7", entities=[{"start": 5, "end": 500, "type": "Chemical", "id": "D1"}]),
        {"title": "no id"},
        {"pmid": "9"},
        story("10", pmid=True),
        story("11"),
    ]
    relations, statuses = run(model, write("a.jsonl", lines(*records)), tmp_path / "r.jsonl", min_score=0)
    assert [row["line"] for row in statuses] == list(range(1, 12))
    assert [row["status"] for row in statuses] == ["ok"] + ["no entities"] * 3 + ["bad record"] * 6 + ["ok"]
    assert [row["doc_id"] for row in statuses] == ["1", "2", "3", "4", "", "1", "7", "", "9", "", "11"]
    assert all(row["reason"] for row in statuses if row["status"] != "ok")
    ok = [row for row in statuses if row["status"] == "ok"]
    assert [(row["relations"], row["windows"]) for row in ok] == [(3, 1), (3, 1)]
    assert all(row["tokens"] > 20 for row in ok)
    assert {row["doc_id"] for row in relations} == {"1", "11"}
    assert list(statuses[0]) == ["doc_id", "line", "status", "reason", "relations", "tokens", "windows"]


def test_no_relation_above_the_threshold_is_not_an_error(model, write, tmp_path):
    relations, statuses = run(model, write("a.jsonl", lines(STORY)), tmp_path / "r.jsonl", min_score=1)
    assert relations == []
    assert [(row["status"], row["reason"], row["relations"]) for row in statuses] == [
        ("nothing above threshold", "3 pairs scored", 0)
    ]


def test_a_summary_counts_each_record_once(model, write, tmp_path):
    source = write("a.jsonl", lines(story("1"), "no json", story("2", entities=[])))
    recorder = Recorder()
    given = {"input": source, "model": model, "out": tmp_path / "r.jsonl", "min_score": 0, "tagger": "none"}
    made = extract.run(Extract.model_validate(given), recorder)
    summary = SimpleNamespace(**made.details)
    assert summary.by_status == {"ok": 1, "no entities": 1, "nothing above threshold": 0, "bad record": 1}
    assert summary.documents == 3
    assert summary.relations == 3
    assert [place.split(": ")[0] for place in made.bad_records] == [f"{source}:2"]
    assert summary.counts[Reason.DOCUMENTS_READ] == 2
    assert recorder.done == [3]


def test_reads_a_long_file_in_chunks(model, write, tmp_path):
    source = write("a.jsonl", lines(*(story(str(number)) for number in range(300))))
    recorder = Recorder()
    given = Extract.model_validate({"input": source, "model": model, "out": tmp_path / "r.jsonl", "min_score": 0})
    assert extract.run(given, recorder).details["documents"] == 300
    assert recorder.done == [256, 300]
    found = scores(read_json_lines(tmp_path / "r.jsonl"))
    assert len(found) == 900
    by_document = [{key[1:]: score for key, score in found.items() if key[0] == doc_id} for doc_id in ("0", "299")]
    assert by_document[0] == pytest.approx(by_document[1], abs=2e-6)


# ---- long texts


@pytest.fixture(scope="module")
def short_sighted(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of 40 positions."""
    return tiny_model(dataset, tmp_path_factory.mktemp("short") / "model", epochs=1, positions=40)


def long_story(filling: str, times: int) -> Row:
    """Aspirin in the title, the ulcer at the very end."""
    title = "Aspirin was given."
    abstract = f"{filling * times}A gastric ulcer."
    start = len(title) + 1 + len(filling * times) + 2
    entities = [
        {"start": 0, "end": 7, "text": "Aspirin", "type": "Chemical", "id": "MESH:D001241"},
        {"start": start, "end": start + 13, "text": "gastric ulcer", "type": "Disease", "id": "MESH:D013276"},
    ]
    return {"pmid": "1", "title": title, "abstract": abstract, "entities": entities}


def test_scores_a_relation_across_all_windows_of_a_long_text(short_sighted, write, tmp_path):
    row = long_story("Days went by in the ward. ", 20)
    relations, (status,) = run(short_sighted, write("a.jsonl", lines(row)), tmp_path / "r.jsonl", all_scores=True)
    assert status["windows"] > 3
    assert status["tokens"] > 120
    assert status["relations"] == len(relations) == 2
    for relation in relations:
        assert relation["score"] > 0
        (evidence,) = relation["evidence"]
        assert evidence["weight"] == 1
        assert text_of(row)[slice(*evidence["head"])] == "Aspirin"
        assert text_of(row)[slice(*evidence["tail"])] == "gastric ulcer"
        assert evidence["sentence"] == [0, len(text_of(row))]


def test_the_end_of_a_long_text_affects_the_score(short_sighted, write, tmp_path):
    """Another word next to the last mention changes the score, 200 tokens beyond the positions."""
    row = long_story("Days went by in the ward. ", 20)
    changed = {**row, "abstract": row["abstract"].replace("A gastric ulcer.", "A gastric ulcer was cured and healed.")}
    found = [
        scores(run(short_sighted, write(f"{name}.jsonl", lines(one)), tmp_path / f"{name}.r.jsonl", all_scores=True)[0])
        for name, one in (("a", row), ("b", changed))
    ]
    assert set(found[0]) == set(found[1])
    assert all(abs(found[0][key] - found[1][key]) > 1e-6 for key in found[0])


# ---- what is written


def test_every_format_holds_the_same_relations(model, write, tmp_path):
    source = write("a.jsonl", lines(story("1"), story("2", entities=[])))
    expected, _ = run(model, source, tmp_path / "r.jsonl", min_score=0)
    assert len(expected) == 3
    for name in ("r.parquet", "r.tsv", "r.pubtator", "r.xml"):
        given = {"input": source, "model": model, "out": tmp_path / name, "min_score": 0, "tagger": "none"}
        assert extract.run(Extract.model_validate(given)).details["relations"] == 3
        assert (tmp_path / f"{name}.status.jsonl").is_file()
    table = pd.read_parquet(tmp_path / "r.parquet")
    assert [(row["head"]["id"], row["relation"], row["tail"]["id"]) for row in table.to_dict("records")] == [
        (row["head"]["id"], row["relation"], row["tail"]["id"]) for row in expected
    ]
    assert list(table["score"]) == pytest.approx([row["score"] for row in expected], abs=1e-5)
    header, *rows = (tmp_path / "r.tsv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 3
    assert all(len(row.split("\t")) == len(header.split("\t")) for row in rows)
    for name in ("r.pubtator", "r.xml"):
        records = [record for _, record in read_records(tmp_path / name, Counts())]
        assert [record.document.doc_id for record in records if isinstance(record, Annotated)] == ["1", "2"]
        first = records[0]
        assert isinstance(first, Annotated)
        assert first.document.text == text_of(STORY)
        assert len(first.curations) == 3
    for name in ("tsv", "parquet", "pubtator", "bioc"):
        given = {"input": source, "model": model, "format": name, "min_score": 0, "tagger": "none"}
        extract.run(Extract.model_validate({**given, "out": tmp_path / "x.out", "force": True}))
        suffix = {"bioc": "xml"}.get(name, name)
        assert (tmp_path / "x.out").read_bytes() == (tmp_path / f"r.{suffix}").read_bytes()


@pytest.mark.parametrize(("format_", "suffix"), [("auto", "jsonl"), ("tsv", "tsv"), ("bioc", "xml")])
def test_default_output_name_follows_the_input(model, write, tmp_path, monkeypatch, format_, suffix):
    source = write("in/a.jsonl.gz", lines(STORY))
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    extract.run(Extract.model_validate({"input": source, "model": model, "format": format_}))
    assert {path.name for path in here.iterdir()} == {f"a.relations.{suffix}", f"a.relations.{suffix}.status.jsonl"}


@pytest.mark.parametrize("existing", ["r.jsonl", "r.jsonl.status.jsonl"])
def test_an_existing_output_or_status_file_is_kept_without_force(model, write, tmp_path, existing):
    write(existing, "kept")
    with pytest.raises(OutputError, match=f"{existing}: exists already"):
        run(model, write("a.jsonl", lines(story("1"))), tmp_path / "r.jsonl")
    assert (tmp_path / existing).read_text() == "kept"
    assert {path.name for path in tmp_path.iterdir()} == {existing, "a.jsonl"}


def test_a_second_extraction_with_force_replaces_the_first(model, write, tmp_path):
    run(model, write("a.jsonl", lines(story("1"))), tmp_path / "r.jsonl", min_score=0)
    relations, _ = run(model, write("b.jsonl", lines(story("2"))), tmp_path / "r.jsonl", min_score=0, force=True)
    assert {row["doc_id"] for row in relations} == {"2"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "b.jsonl", "r.jsonl", "r.jsonl.status.jsonl"]


# ---- faults (J-03): an exit code, one line and a hint, and nothing left behind


def test_a_failure_keeps_the_previous_output(model, tmp_path, write):
    run(model, write("a.jsonl", lines(STORY)), tmp_path / "r.jsonl")
    before = {path: path.read_bytes() for path in tmp_path.glob("r*")}
    assert len(before) == 2
    for content in (lines(*(story(str(number)) for number in range(300))).encode() + b"\xff\n", b"{\n"):
        with pytest.raises(InputError):
            run(model, write("b.jsonl", content), tmp_path / "r.jsonl", force=True)
        assert {path: path.read_bytes() for path in tmp_path.glob("r*")} == before


def test_refuses_to_overwrite_the_input(model, tmp_path, write):
    source = write("a.jsonl.status.jsonl", lines(STORY))
    for options in (
        {"out": source},
        {"out": tmp_path / "a.jsonl"},  # whose status file is the input
        {"out": tmp_path / "r.jsonl", "status": tmp_path / "r.jsonl"},
    ):
        with pytest.raises(OutputError, match="three different files"):
            extract.run(Extract.model_validate({"input": source, "model": model, **options}))
    assert source.read_text() == lines(STORY)
    assert list(tmp_path.iterdir()) == [source]


def test_rejects_an_unknown_suffix(model, tmp_path, write):
    with pytest.raises(ConfigError, match="unknown output format"):
        run(model, write("a.jsonl", lines(STORY)), tmp_path / "r.doc")
    assert not list(tmp_path.glob("r*"))


def test_reports_an_output_that_cannot_be_written(model, tmp_path, write):
    blocked = write("file", "no folder")
    with pytest.raises(OutputError, match="cannot be written"):
        run(model, write("a.jsonl", lines(STORY)), blocked / "r.jsonl")


def test_reports_bad_records_and_reads_the_others(model, tmp_path, write, capsys):
    source = write("a.jsonl", lines(story("1"), "{", story("2")))
    command = ("extract", source, "--model", model, "--out", tmp_path / "r.jsonl", "--min-score", 0)
    code, output, errors = command_line(capsys, *command)
    assert code == 3
    assert f"bad record: {source}:2: not JSON" in errors
    assert errors.count("bad record") == 1
    assert "--skip-bad" in errors
    assert "6 relations of 3 documents (2 ok, 1 bad record)" in output
    assert "docs/s on cpu" in output
    assert len(read_json_lines(tmp_path / "r.jsonl")) == 6
    code, _, errors = command_line(capsys, *command, "--skip-bad", "--force")
    assert (code, errors) == (0, "")


# ---- raw text: a record without entities is tagged and linked, one with entities is not


BARE: Row = {key: value for key, value in STORY.items() if key != "entities"}
TAGGED = {"aspirin": "Chemical", "gastric ulcer": "Disease", "COX2": "Gene"}
IDS = {"aspirin": "MESH:D001241", "gastric ulcer": "MESH:D013276", "cox2": "NCBIGene:5743"}


class StubTagger:
    """Finds three names, and remembers the documents that it was given."""

    def __init__(self) -> None:
        self.given: list[str] = []

    def tag(self, documents: Sequence[Document]) -> list[tuple[Mention, ...]]:
        self.given += [document.doc_id for document in documents]
        return [
            tuple(
                Mention(document.doc_id, found.start(), found.end(), found[0], type_, None)
                for name, type_ in TAGGED.items()
                for found in re.finditer(name, document.text, re.IGNORECASE)
            )
            for document in documents
        ]


class StubLinker:
    """Links every mention: three names to the ids of STORY, any other text to a unique id."""

    def link(self, document: Document, mentions: Sequence[Mention]) -> tuple[Mention, ...]:
        def id_of(text: str) -> str:
            return IDS.get(text, f"MESH:D{crc32(text.encode())}")

        return tuple(replace(one, entity_id=id_of(one.text.lower())) for one in mentions)


@pytest.fixture
def opened(monkeypatch) -> list[StubTagger | None]:
    """Puts the stubs in place of tagger and linker; lists the taggers that were opened, None for the model's own."""
    taggers: list[StubTagger | None] = []

    def open_annotator(*, tagger: str, **options: Any) -> Annotator:
        taggers.append(None if tagger == "bran" else StubTagger())
        return Annotator(taggers[-1], StubLinker())  # type: ignore[arg-type]

    monkeypatch.setattr(extract, "open_annotator", open_annotator)
    return taggers


def bare(doc_id: str, **changes: Any) -> Row:
    return {**BARE, "pmid": doc_id, **changes}


def test_a_record_without_entities_is_tagged_and_linked(model, write, tmp_path, opened):
    source = write("a.jsonl", lines(bare("1"), bare("2", title="Nothing.", abstract="Here."), bare("3")))
    relations, statuses = run(model, source, tmp_path / "r.jsonl", tagger="spacy", min_score=0)
    given, _ = run(model, write("b.jsonl", lines(story("1"), story("3"))), tmp_path / "g.jsonl", min_score=0)
    assert relations == given
    assert len(relations) > 0
    assert [row["status"] for row in statuses] == ["ok", "no entities", "ok"]
    assert statuses[1]["reason"] == "no entity was found"
    assert [tagger.given for tagger in opened] == [["1", "2", "3"]]


def test_a_record_with_entities_is_not_tagged(model, write, tmp_path, opened):
    one_pair = STORY["entities"][:2]
    source = write("a.jsonl", lines(story("1", entities=one_pair), bare("2"), story("3", entities=one_pair)))
    relations, _ = run(model, source, tmp_path / "r.jsonl", tagger="spacy", min_score=0)
    assert [tagger.given for tagger in opened] == [["2"]]
    alone = write("b.jsonl", lines(story("1", entities=one_pair), story("3", entities=one_pair)))
    given, _ = run(model, alone, tmp_path / "g.jsonl", min_score=0)
    assert [row for row in relations if row["doc_id"] != "2"] == given
    assert len(given) < len(relations) - len(given)


def test_opens_no_tagger_if_all_records_have_entities(model, write, tmp_path, opened):
    for tagger in ("spacy", "bran", "dictionary"):
        run(model, write("a.jsonl", lines(story("1"), story("2"))), tmp_path / f"{tagger}.jsonl", tagger=tagger)
    assert opened == []


def test_opens_the_tagger_once_for_all_chunks(model, write, tmp_path, opened):
    source = write("a.jsonl", lines(*(bare(str(number), abstract="Aspirin.") for number in range(300))))
    _, statuses = run(model, source, tmp_path / "r.jsonl", tagger="spacy")
    assert len(statuses) == 300
    assert [len(tagger.given) for tagger in opened] == [300]


def test_bad_records_do_not_shift_the_entities_of_others(model, write, tmp_path, opened):
    source = write("a.jsonl", lines("{", bare("1"), "{", story("2"), bare("3", title="Nothing.", abstract="Here.")))
    relations, statuses = run(model, source, tmp_path / "r.jsonl", tagger="spacy", min_score=0)
    assert [row["status"] for row in statuses] == ["bad record", "ok", "bad record", "ok", "no entities"]
    assert {row["doc_id"] for row in relations} == {"1", "2"}


@pytest.fixture
def reading(model, tmp_path) -> Path:
    """The model, with an entity head that calls many words an entity."""
    shutil.copytree(model, tmp_path / "reading")
    return talkative(tmp_path / "reading")


@pytest.mark.slow
def test_tagging_with_the_relation_model_encodes_each_document_once(reading, write, tmp_path, opened, monkeypatch):
    rows = [bare(row["pmid"], title=row["title"], abstract=row["abstract"][:300]) for row in sample_rows(4)]
    # the same tags, by the tagger that reads them apart from relations
    documents = [Document(row["pmid"], row["title"], row["abstract"]) for row in rows]
    found = [
        StubLinker().link(document, mentions)
        for document, mentions in zip(documents, BranTagger(open_model(reading), Counts()).tag(documents), strict=True)
    ]
    assert all(found)
    given = [
        {**row, "entities": [{"start": m.start, "end": m.end, "type": m.type, "id": m.entity_id} for m in mentions]}
        for row, mentions in zip(rows, found, strict=True)
    ]
    expected, _ = run(reading, write("g.jsonl", lines(*given, story("9"))), tmp_path / "g.out.jsonl", all_scores=True)

    encoded: list[int] = []
    encode = Bran.encode

    def counted(self: Bran, token_ids: torch.Tensor, *rest: Any) -> Any:
        encoded.append(len(token_ids))
        return encode(self, token_ids, *rest)

    monkeypatch.setattr(Bran, "encode", counted)
    source = write("a.jsonl", lines(*rows, story("9")))
    relations, statuses = run(reading, source, tmp_path / "r.jsonl", tagger="bran", all_scores=True)
    assert sum(encoded) == len(rows) + 1
    assert opened == [None]
    assert [row["status"] for row in statuses] == ["ok"] * (len(rows) + 1)
    assert len(scores(relations)) > 0
    assert scores(relations) == pytest.approx(scores(expected), abs=1e-5)


def test_extracts_from_raw_text_with_the_shipped_models(write, tmp_path):
    text = {"title": "Naloxone and hypotension.", "abstract": "Clonidine caused hypotension in rats."}
    source = write("a.jsonl", lines({"pmid": "1", **text}))
    extract.run(Extract.model_validate({"input": source, "out": tmp_path / "r.jsonl", "min_score": 0}))
    relations = read_json_lines(tmp_path / "r.jsonl")
    # the ids that MeSH gives these three names
    assert ("MESH:D003000", "MESH:D007022") in {(row["head"]["id"], row["tail"]["id"]) for row in relations}
    assert ("MESH:D009270", "MESH:D007022") in {(row["head"]["id"], row["tail"]["id"]) for row in relations}


def test_a_record_without_entities_stays_so_without_a_tagger(model, write, tmp_path):
    _, statuses = run(model, write("a.jsonl", lines(bare("1"))), tmp_path / "r.jsonl", tagger="none")
    assert [(row["status"], row["reason"]) for row in statuses] == [("no entities", "the record has no entity")]
