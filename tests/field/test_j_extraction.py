"""J: byte-order marks, exit codes, oversized texts."""

from __future__ import annotations

import codecs
import gzip
import json
import shutil
import time

import pytest

from biorel.commands import extract
from biorel.config import load
from biorel.config.build_dataset import BuildDataset
from biorel.config.extract import Extract
from biorel.dataset.relation_schema import load_schema
from biorel.formats.jsonl import read_jsonl
from biorel.ner.words import features, split_words
from biorel.records import Annotated
from biorel.resources import resource
from biorel.text.abbreviations import find_abbreviations
from biorel.text.tokenizer import import_subword_nmt
from tests.command_runs import REPOSITORY, SAMPLE, command_line, flags, read_json, read_json_lines

MARK = codecs.BOM_UTF8
ENTITIES = [
    {"start": 0, "end": 7, "type": "Chemical", "id": "MESH:D001241"},
    {"start": 12, "end": 17, "type": "Disease", "id": "MESH:D014456"},
]


def story(doc_id: str, abstract: str = "Both were seen.") -> str:
    return (
        json.dumps({"pmid": doc_id, "title": "Aspirin and ulcer.", "abstract": abstract, "entities": ENTITIES}) + "\n"
    )


@pytest.mark.parametrize("end", ["\n", "\r\n\r\n", "\n \n\t\n"])
@pytest.mark.parametrize("packed", ["a.jsonl", "a.jsonl.gz"])
def test_j_02_a_byte_order_mark_and_blank_lines_lose_no_record(write, counts, end, packed):
    content = MARK + (story("1") + "\n" + story("2").rstrip() + end).encode()
    found = [record for _, record in read_jsonl(write(packed, content), counts)]
    assert [record.document.doc_id for record in found if isinstance(record, Annotated)] == ["1", "2"]
    assert len(found) == 2


@pytest.mark.parametrize("bad", ["{", "[]", '"text"', '{"pmid": NaN}'])
def test_j_02_reports_a_bad_line_with_its_number(capsys, write, model, tmp_path, bad):
    source = write("a.jsonl", story("1") + bad + "\n" + story("3"))
    given = ["extract", source, *flags(model=model, out=tmp_path / "r.jsonl")]
    code, _, err = command_line(capsys, *given)
    assert code == 3
    assert f"bad record: {source}:2: " in err
    assert [row["status"] for row in read_json_lines(tmp_path / "r.jsonl.status.jsonl")].count("bad record") == 1
    assert command_line(capsys, *given, "--skip-bad", "--force")[0] == 0


@pytest.mark.parametrize("kind", ["config", "schema", "merges", "pipeline"])
def test_j_02_accepts_a_byte_order_mark_in_option_files(capsys, write, tmp_path, kind):
    if kind == "config":
        path = write("c.toml", MARK + b'schema = "cdr"\nhypernyms = "off"\n')
        given = load(BuildDataset, {"documents": ["a"], "out": "b"}, path)
        assert given.relation_schema == "cdr"
    elif kind == "schema":
        path = write("s.toml", MARK + resource("relations", "cdr.toml").read_bytes())
        assert load_schema(path).labels == ("chemical_induced_disease",)
    elif kind == "merges":
        path = write("m.txt", MARK + b"#version: 0.2\nt o\nto x</w>\n")
        assert not {"\ufeff", "#", "v"} & set(import_subword_nmt(path, ["tox"]).get_vocab())
    else:
        path = write("p.toml", MARK + (REPOSITORY / "pipelines" / "sample.toml").read_bytes())
        given = flags(data=SAMPLE, out=tmp_path / "run")
        assert command_line(capsys, "run", path, *given, "--dry-run")[0] == 0


FAULTS: dict[str, tuple[int, str]] = {
    "missing.jsonl": (3, "no such file"),
    "empty.jsonl": (3, "no record in this file"),
    "blank.jsonl": (3, "no record in this file"),
    "noise.txt": (3, "no document in PubTator format"),
    "bad.jsonl": (3, "bad.jsonl:1: not JSON"),
    "latin.jsonl": (3, "latin.jsonl:2: not UTF-8"),
    "cut.jsonl.gz": (3, "damaged gzip"),
    "half.xml": (3, "half.xml"),
}
CONTENTS: dict[str, bytes] = {
    "empty.jsonl": b"",
    "blank.jsonl": b"\n  \n",
    "noise.txt": b"no PubTator\n",
    "bad.jsonl": b"{\n[]\n",
    "latin.jsonl": story("1").encode() + b'{"pmid": "2", "title": "caf\xe9"}\n',
    "cut.jsonl.gz": gzip.compress("".join(story(str(n)) for n in range(50)).encode())[:-12],
    "half.xml": b"<?xml version='1.0'?><collection><source/><document><id>1</id>",
}


@pytest.mark.parametrize("name", FAULTS)
def test_j_03_fails_on_unusable_input(model, tmp_path, capsys, name):
    if name in CONTENTS:
        (tmp_path / name).write_bytes(CONTENTS[name])
    before = sorted(tmp_path.iterdir())
    code, expected = FAULTS[name]
    got, _, err = command_line(capsys, "extract", tmp_path / name, "--model", model, "--out", tmp_path / "r.jsonl")
    assert got == code
    assert err.startswith("error: ")
    assert expected in err
    assert "Traceback" not in err
    assert len(err.splitlines()) <= 2
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("change", ["fewer labels", "no labels", "no folder"])
def test_j_03_fails_on_a_model_that_does_not_match(capsys, write, model, tmp_path, change):
    other = tmp_path / "m"
    if change != "no folder":
        shutil.copytree(model, other)
        (other / "labels.json").unlink()
    if change == "fewer labels":
        labels = read_json(model / "labels.json")
        (other / "labels.json").write_text(json.dumps({**labels, "relations": labels["relations"][:-1]}))
    source = write("a.jsonl", story("1"))
    code, _, err = command_line(capsys, "extract", source, *flags(model=other, out=tmp_path / "r.jsonl"))
    assert code == 4
    assert err.startswith("error: ")
    assert not list(tmp_path.glob("r*"))


@pytest.mark.parametrize("command", ["tag", "build-dataset --schema cdr --hypernyms off --train", "export --relations"])
def test_j_03_every_command_fails_without_input(capsys, tmp_path, command):
    code, out, err = command_line(capsys, *command.split(), tmp_path / "missing.jsonl", *flags(out=tmp_path / "o.tsv"))
    assert code == 3
    assert out == ""
    assert "missing.jsonl: no such file" in err
    assert not list(tmp_path.iterdir())


LONG = {"one word": "ACGT" * 20_000, "digits": "1" * 80_000, "dashes": "N-methyl-" * 8_000}


@pytest.mark.parametrize("kind", LONG)
def test_j_04_an_oversized_text_does_not_affect_other_records(write, model, tmp_path, kind):
    source = write("a.jsonl", story("1") + story("2", LONG[kind]) + story("3"))
    began = time.monotonic()
    given = {"input": source, "model": model, "out": tmp_path / "r.jsonl", "all_scores": True}
    extract.run(Extract.model_validate(given))
    assert time.monotonic() - began < 60
    statuses = read_json_lines(tmp_path / "r.jsonl.status.jsonl")
    assert [(row["doc_id"], row["status"]) for row in statuses] == [("1", "ok"), ("2", "ok"), ("3", "ok")]
    assert statuses[1]["windows"] > 10
    scores = {row["doc_id"]: row["score"] for row in read_json_lines(tmp_path / "r.jsonl")}
    assert scores["1"] == pytest.approx(scores["3"], abs=2e-6)


def test_j_04_reports_a_text_that_repeats_two_names_thousands_of_times(capsys, write, model, tmp_path):
    names = [(18 + 14 * number, kind) for number in range(1100) for kind in (0, 8)]
    marks = [
        {"start": at + 1 + shift, "end": at + 1 + shift + (7 if shift == 0 else 5), **_concept(shift)}
        for at, shift in names
    ]
    many = json.dumps(
        {"pmid": "2", "title": "Aspirin and ulcer.", "abstract": "aspirin ulcer " * 1100, "entities": marks}
    )
    source = write("a.jsonl", story("1") + many + "\n" + story("3"))
    began = time.monotonic()
    code, _, err = command_line(capsys, "extract", source, *flags(model=model, out=tmp_path / "r.jsonl"))
    assert time.monotonic() - began < 60
    assert code == 3
    assert f"{source}:2: too many pairs of mentions: 1210000, but at most 1000000 can be scored" in err
    statuses = [row["status"] for row in read_json_lines(tmp_path / "r.jsonl.status.jsonl")]
    assert statuses[1] == "bad record"
    assert "bad record" not in (statuses[0], statuses[2])


def _concept(shift: int) -> dict[str, str]:
    return {"type": "Disease", "id": "MESH:D014456"} if shift else {"type": "Chemical", "id": "MESH:D001241"}


@pytest.mark.parametrize("text", ["(" * 80_000, "(A) " * 20_000, "A-" * 40_000, "word " * 16_000 + "(n = 4)"], ids=len)
def test_j_04_words_and_short_forms_take_linear_time(text):
    began = time.monotonic()
    split = split_words(text)
    drawn = features(text, split, frozenset())
    find_abbreviations(text)
    assert time.monotonic() - began < 10
    assert len(drawn.chunks) == len(split.words)
