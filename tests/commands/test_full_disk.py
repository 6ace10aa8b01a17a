"""A full disk or a read-only folder gives an error of one line and a hint, and no partial output."""

from __future__ import annotations

from pathlib import Path

import pytest

from biorel.errors import OutputError
from biorel.model.checkpoint import save_weights
from biorel.text.tokenizer import save_tokenizer
from biorel.training.model_folder import open_model
from tests.command_runs import SAMPLE, command_line, flags
from tests.full_disk import room_for
from tests.servers import Eutils, article, running


def commands(dataset, model, folder: Path) -> dict[str, list[str]]:
    """The command lines to run, without their output."""
    few = folder / "few.jsonl"
    few.write_text("".join((SAMPLE / "abstracts.jsonl").open(encoding="utf-8").readlines()[:3]), encoding="utf-8")
    relations = folder / "relations.jsonl"
    if not relations.exists():
        relations.write_text("", encoding="utf-8")
    tiny = {"epochs": 1, "width": 8, "heads": 2, "expansion": 1, "threads": 1}
    return {
        "tag": ["tag", str(few), "--tagger", "dictionary"],
        "build-dataset": [
            "build-dataset",
            *("--documents", str(SAMPLE / "abstracts.pubtator.txt"), "--ctd", str(SAMPLE / "ctd")),
            *("--hypernyms", "off"),
        ],
        "train": ["train", "--dataset", str(dataset), *flags(**tiny)],
        "evaluate": ["evaluate", "--model", str(model), "--dataset", str(dataset), "--split", "dev"],
        "extract": [
            "extract",
            str(SAMPLE / "abstracts.jsonl"),
            "--model",
            str(model),
            "--all-scores",
            "--format",
            "jsonl",
        ],
        "export": ["export", "--model", str(model)],
        "fetch ctd": ["fetch", "ctd", "--from", str(SAMPLE / "ctd")],
        "fetch mesh": ["fetch", "mesh", "--from", str(SAMPLE / "mesh.tsv")],
        "build-linker": ["build-linker", "--documents", str(SAMPLE / "abstracts.pubtator.txt")],
    }


NAMES = ("tag", "build-dataset", "train", "evaluate", "extract", "export", "fetch ctd", "fetch mesh", "build-linker")


def assert_reported_in_one_line(code, errors):
    assert code == 5, errors
    error, *hint = errors.strip().splitlines()[-2:]
    assert error.startswith("error: ")
    assert "cannot be written" in error
    assert [line for line in hint if line.startswith("hint: ")]
    assert "Traceback" not in errors
    assert len(error) < 600


@pytest.mark.parametrize("size", [0, 3000])
@pytest.mark.parametrize("name", NAMES)
def test_a_full_disk_is_reported_in_one_line_and_leaves_no_partial_output(name, size, dataset, model, tmp_path, capsys):
    words = commands(dataset, model, tmp_path)[name]
    place = tmp_path / "place"
    place.mkdir()
    with room_for(size):
        code, _, errors = command_line(capsys, *words, "--out", place / "out")
    assert_reported_in_one_line(code, errors)
    left = {path.name for path in place.iterdir()}
    # what a killed or failed training or download goes on from may stay
    assert left <= ({"out.partial"} if name == "train" else set())


def test_a_fetch_resumes_after_a_full_disk(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("NCBI_API_KEY", raising=False)
    pmids = [str(number) for number in range(1, 301)]
    (tmp_path / "pmids.txt").write_text("\n".join(pmids), encoding="utf-8")
    place = tmp_path / "place"
    place.mkdir()
    with running() as server:
        service = Eutils(server, {pmid: article(pmid, "T.", "Text. " * 30) for pmid in pmids})
        words = ["fetch", "pubmed", "--pmids", tmp_path / "pmids.txt", "--url", service.url, "--out", place / "out"]
        with room_for(30_000):
            code, _, errors = command_line(capsys, *words)
        assert_reported_in_one_line(code, errors)
        assert {path.name for path in place.iterdir()} == {"out.partial"}
        code, _, errors = command_line(capsys, *words)
    assert code == 0, errors
    assert {path.name for path in place.iterdir()} == {"out"}


def test_saving_tensors_and_tokenizers_reports_a_full_disk(model, tmp_path):
    opened = open_model(model)
    with room_for(1000):
        with pytest.raises(OutputError, match="cannot be written"):
            save_weights(opened.model, tmp_path / "model.safetensors")
        with pytest.raises(OSError, match="File too large"):
            save_tokenizer(opened.tokenizer, tmp_path / "tokenizer.json")
    save_tokenizer(opened.tokenizer, tmp_path / "tokenizer.json")
    assert (tmp_path / "tokenizer.json").read_bytes() == (model / "tokenizer.json").read_bytes()
    opened.tokenizer.save(str(tmp_path / "theirs.json"))
    assert (tmp_path / "theirs.json").read_bytes() == (model / "tokenizer.json").read_bytes()


@pytest.mark.parametrize("name", ["tag", "extract", "train", "fetch mesh"])
def test_a_read_only_folder_is_reported_in_one_line(name, dataset, model, tmp_path, capsys):
    words = commands(dataset, model, tmp_path)[name]
    # not even root can make a file there
    code, _, errors = command_line(capsys, *words, "--out", "/proc/biorel/out")
    assert_reported_in_one_line(code, errors)
