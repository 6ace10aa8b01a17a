"""The command line: help with examples that run, and errors as one line, a hint and an exit status."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from biorel import __version__
from biorel.cli.app import app
from biorel.commands import COMMANDS as TABLE
from biorel.commands import build_dataset
from biorel.config import Config, load
from biorel.errors import ConfigError
from tests.command_runs import (
    SAMPLE,
    TINY,
    biorel,
    command_line,
    flags,
    pubtator,
    read_json,
    read_json_lines,
    sample_dataset,
)

ROOT = typer.main.get_command(app)
STORY = pubtator(
    "1",
    "Aspirin.",
    "It made an ulcer.",
    [("Aspirin", "Chemical", "D001241"), ("ulcer", "Disease", "D014456")],
    [("D001241", "D014456")],
)


def leaves(command: Any = ROOT, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command, with the words that call it."""
    subcommands = getattr(command, "commands", None)
    if not subcommands:
        yield words, command
        return
    for name, subcommand in subcommands.items():
        yield from leaves(subcommand, (*words, name))


COMMANDS = dict(leaves())
KINDS = {tuple(name.split()): command.config_class for name, command in TABLE.items()}


def parsed(line: str) -> Config:
    """Parse and validate a command line without running it."""
    words, command = next(
        (words, command) for words, command in COMMANDS.items() if tuple(shlex.split(line)[1 : 1 + len(words)]) == words
    )
    kind = KINDS[words]
    arguments = shlex.split(line)[1 + len(words) :]
    given = command.make_context(words[-1], arguments).params
    given.pop("config")
    aliases = {field: info.alias or field for field, info in kind.model_fields.items()}
    return load(kind, {aliases[name]: value for name, value in given.items() if value not in (None, [], ())})


# ---- help


def test_every_command_has_options_and_an_example():
    assert set(KINDS) == set(COMMANDS)
    for words, kind in KINDS.items():
        assert tuple(shlex.split(kind.example)[1 : 1 + len(words)]) == words
    assert {("build-dataset",), ("train",), ("evaluate",), ("extract",), ("export",), ("run",)} <= set(COMMANDS)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_shows_every_option_and_a_valid_example(words, capsys):
    code, out, _ = command_line(capsys, *words, "--help")
    assert code == 0
    kind = KINDS[words]
    shown = " ".join(out.split())
    # on one line, however long, so that it can be copied
    assert f"Example:  {kind.example}" in [line.strip() for line in out.splitlines()]
    assert parsed(kind.example)
    for field, info in kind.model_fields.items():
        argument = isinstance(info.json_schema_extra, dict) and info.json_schema_extra.get("argument")
        flag = field.upper() if argument else f"--{(info.alias or field).replace('_', '-')}"
        assert re.search(rf"(?<![\w-]){flag}(?![\w-])", shown), flag
        assert info.description, field
        assert " ".join(info.description.split())[:40] in shown, field
    assert "--config" in shown


def test_the_main_help_lists_every_command(capsys):
    for arguments in (["--help"], []):
        _, out, err = command_line(capsys, *arguments)
        assert all(words[0] in out + err for words in COMMANDS)


def test_parses_every_documented_option():
    for line in (
        "biorel build-dataset --train F --dev F --test F --schema cdr --mesh M --out D",
        "biorel build-dataset --train F --train G --schema cdr --mesh M --mesh N --out D",
        "biorel build-dataset --documents F --ctd DIR --schema ctd13 --mesh M --out D",
        "biorel build-dataset --documents F --unlinked drop --hypernyms off --max-tokens 500 --splits F "
        "--exclude-pmids F --out D",
        "biorel build-dataset --documents F --unlinked merge --hypernyms both --mesh M --out D",
        "biorel train --dataset D --out MODEL --seed 1",
        "biorel train --dataset D --out MODEL --sampling paper --gradient-noise 0.1 --no-rerank --device cuda:0",
        "biorel train --dataset D --out MODEL --no-rerank --no-pair-features",
        "biorel evaluate --model MODEL --dataset D --split test --out E",
        "biorel extract FILE.jsonl --model MODEL --out RELATIONS.jsonl",
        "biorel extract FILE.jsonl",
        "biorel extract FILE.jsonl --min-score 0.5 --all-scores --batch-tokens 100 --device cpu",
        "biorel build-dataset --chemprot DIR --hypernyms off --split-sizes 600 75 75 --split-seed 2 --out D",
        "biorel build-dataset --chemprot DIR --hypernyms off --folds 10 --fold 10 --out D",
        "biorel run pipelines/cdr.toml --out runs/cdr",
        "biorel run pipelines/cdr.toml --out runs/cdr --seeds 5 --dry-run",
        "biorel run pipelines/chemprot.toml --out runs/folds --folds 10 --seed 2",
        "biorel ensemble --model A --model B --model C --out MODEL",
        "biorel export --model MODEL --out ONNX",
    ):
        assert parsed(line), line
    for line in (
        "biorel extract FILE.jsonl --min-score 2",
        "biorel train --dataset D --out MODEL --no-pair-features",
    ):
        with pytest.raises(ConfigError):
            parsed(line)


def test_prints_the_version(capsys):
    assert command_line(capsys, "--version") == (0, f"biorel {__version__}\n", "")


def test_the_process_ends_with_an_exit_status(tmp_path):
    assert biorel("--version").stdout == f"biorel {__version__}\n"
    done = biorel(
        "build-dataset", "--train", "missing.txt", "--schema", "cdr", "--hypernyms", "off", "--out", "d", cwd=tmp_path
    )
    assert done.returncode == 3
    assert done.stdout == ""
    assert done.stderr.splitlines() == ["reading documents", "error: missing.txt: no such file", "hint: check the path"]
    assert not list(tmp_path.iterdir())


# ---- errors


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("train --epochs 2", 2, "--dataset: Field required; --out: Field required"),
        ("build-dataset --out d", 2, "no documents: give --train/--dev/--test, --documents or --chemprot"),
        ("build-dataset --train a --out d", 2, "--hypernyms tail needs --mesh"),
        ("train --dataset nowhere --out m", 4, "labels.json"),
        ("train --dataset nowhere --out m --device tpu", 2, "--device: "),
        ("train --dataset nowhere --out m --width 10", 2, "--width 10 is not a multiple of --heads 4"),
        ("evaluate --model nowhere --dataset d --out e", 4, "nowhere: no such model folder"),
        ("extract a.jsonl --model nowhere --out r.jsonl", 4, "nowhere: no such model folder"),
        ("extract a.jsonl --format doc", 2, "unknown output format 'doc'"),
        ("export --out x.tsv", 2, "give either --model or --relations"),
        ("export --relations nowhere.jsonl --out x.tsv", 3, "nowhere.jsonl"),
        ("run nowhere.toml --out o", 3, "nowhere.toml"),
        ("run nowhere.toml --out o --seeds 2 --folds 3", 2, "--seeds and --folds exclude each other"),
        ("run nowhere.toml --out o --folds 2", 2, "--folds: Input should be greater than or equal to 3"),
        ("ensemble --out m", 2, "--model: Field required"),
        ("ensemble --model nowhere --out m", 4, "nowhere: no such model folder"),
        ("build-dataset --documents a --split-sizes 6 x 1 --out d", 2, "--split-sizes.1: Input should be a valid int"),
        ("build-dataset --config nowhere.toml", 2, "nowhere.toml: No such file"),
    ],
)
def test_prints_an_error_as_one_line_and_a_hint(line, code, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    got, out, err = command_line(capsys, *shlex.split(line))
    assert (got, out) == (code, "")
    error, *hint = err.splitlines()
    assert error.startswith("error: ")
    assert message in error
    assert all(more.startswith("hint: ") for more in hint)
    assert len(hint) <= 1
    assert not list(tmp_path.iterdir())


def test_reports_all_faults_at_once(capsys):
    line = "build-dataset --train a --max-tokens no --unlinked x --dev-share 2 --min-share -1"
    code, _, err = command_line(capsys, *line.split())
    assert code == 2
    error, hint = err.splitlines()
    for flag in ("--max-tokens: ", "--unlinked: ", "--dev-share: ", "--min-share: ", "--out: "):
        assert flag in error
    assert error.count(": ") >= 6
    assert hint == "hint: see --help for what each option takes"


@pytest.mark.parametrize("line", ["fly", "train --wings 2", "extract a b"])
def test_reports_unknown_arguments_without_a_traceback(line, capsys):
    code, out, err = command_line(capsys, *line.split())
    assert (code, out) == (2, "")
    assert "Error: " in err
    assert "Traceback" not in err


def test_debug_shows_the_traceback(tmp_path, capsys):
    line = ["extract", tmp_path / "a.jsonl", "--model", tmp_path / "m"]
    code, _, err = command_line(capsys, "--debug", *line)
    assert code == 4
    assert "Traceback" in err
    assert "ModelError" in err
    assert err.splitlines()[-2].startswith("error: ")
    assert "Traceback" not in command_line(capsys, *line)[2]


def test_prints_a_bug_of_biorel_as_one_line(tmp_path, monkeypatch, capsys):
    def fail(*_: object) -> None:
        raise ValueError("first line\nsecond line")

    monkeypatch.setattr(build_dataset, "run", fail)
    line = ["build-dataset", "--train", "a", "--hypernyms", "off", "--out", tmp_path / "d"]
    code, _, err = command_line(capsys, *line)
    assert code == 1
    error, hint = err.splitlines()
    assert error == "error: unexpected ValueError: first line"
    assert "--debug" in hint
    assert "Traceback" in command_line(capsys, "--debug", *line)[2]


# ---- a configuration file


def built(capsys: pytest.CaptureFixture[str], out: Path, *arguments: object) -> dict[str, Any]:
    code, _, err = command_line(capsys, "build-dataset", *arguments, "--out", out)
    assert code == 0, err
    return read_json(out / "manifest.json")["config"]


def test_flags_override_the_file_and_the_file_overrides_defaults(write, tmp_path, capsys):
    source = write("a.txt", STORY)
    file = write(
        "c.toml", f'train = ["{source}"]\nschema = "cdr"\nhypernyms = "off"\nvocabulary = 300\nkeep_empty = true\n'
    )
    given = built(capsys, tmp_path / "one", "--config", file)
    assert (given["vocabulary"], given["max_tokens"], given["schema"], given["keep_empty"]) == (300, 500, "cdr", True)
    given = built(capsys, tmp_path / "two", "--config", file, "--vocabulary", 250, "--unlinked", "merge")
    assert (given["vocabulary"], given["unlinked"], given["hypernyms"]) == (250, "merge", "off")
    other = write("b.txt", re.sub("^1", "2", STORY, flags=re.MULTILINE))
    given = built(capsys, tmp_path / "three", "--config", file, "--train", other)
    assert given["train"] == [str(other)]


def test_reports_faults_of_file_and_flags_together(write, tmp_path, capsys):
    file = write("c.toml", 'train = ["a"]\nvocabulary = 3\nwings = 2\n')
    code, _, err = command_line(capsys, "build-dataset", "--config", file, "--max-tokens", 0, "--out", tmp_path / "d")
    assert code == 2
    for flag in ("--vocabulary: ", "--wings: Extra inputs are not permitted", "--max-tokens: "):
        assert flag in err.splitlines()[0]


@pytest.mark.parametrize("content", ["train = [", b"\xff\xfe"])
def test_rejects_a_file_that_is_not_toml(write, capsys, content):
    code, _, err = command_line(capsys, "build-dataset", "--config", write("c.toml", content))
    assert code == 2
    assert "c.toml: not TOML" in err.splitlines()[0]


# ---- the whole way


def test_progress_is_plain_lines_without_a_terminal(tmp_path, capsys):
    dataset = sample_dataset(tmp_path)
    code, out, err = command_line(capsys, "train", *flags(dataset=dataset, out=tmp_path / "m", **TINY))
    assert code == 0, err
    assert out == f"model: {tmp_path / 'm'}\n"
    assert "\x1b" not in err
    number = r"\d+\.\d+"
    losses, dev = rf"loss {number}, NER loss {number}", rf"dev F1 {number}, NER F1 {number}"
    row = rf"epoch (\d)/2  {losses}  {dev}  {number} docs/s(  best so far)?"
    assert [re.fullmatch(row, line)[1] for line in err.splitlines()] == ["1", "2"]


@pytest.mark.slow
def test_the_examples_in_help_run_in_sequence(tmp_path, monkeypatch, capsys):
    """On the shipped sample, with default options, and the model of the example instead of the shipped one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "resources").symlink_to(SAMPLE.parent)
    for kind in (TABLE["build-dataset"].config_class, TABLE["train"].config_class, TABLE["evaluate"].config_class):
        code, _, err = command_line(capsys, *shlex.split(kind.example)[1:])
        assert code == 0, err
    assert read_json(tmp_path / "runs" / "sample-eval" / "metrics.json")["micro"]["gold"] > 0
    code, out, err = command_line(
        capsys,
        *shlex.split(TABLE["extract"].config_class.example)[1:],
        "--model",
        "runs/sample-model",
        "--min-score",
        0.1,
    )
    assert code == 0, err
    assert re.search(r"^\d+ relations of 48 documents \(48 ok\)$", out, re.MULTILINE)
    relations = read_json_lines(tmp_path / "relations.jsonl")
    assert len({row["doc_id"] for row in relations}) == 48
    code, _, err = command_line(capsys, *shlex.split(TABLE["export"].config_class.example)[1:])
    assert code == 0, err
    assert len((tmp_path / "relations.tsv").read_text(encoding="utf-8").splitlines()) == 1 + len(relations)
    for kind in (
        TABLE["aggregate"].config_class,
        TABLE["build-questions"].config_class,
        TABLE["train-reader"].config_class,
        TABLE["evaluate-reader"].config_class,
        TABLE["ask"].config_class,
    ):
        code, _, err = command_line(capsys, *shlex.split(kind.example)[1:])
        assert code == 0, err
    assert read_json(tmp_path / "runs" / "ask-eval" / "metrics.json")["answerable"] > 0
    assert (tmp_path / "triples.tsv").is_file()
    assert (tmp_path / "answers.jsonl").is_file()
