"""The commands and Python examples of README and the documentation run, or say what they need."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.command_runs import command_line
from tests.docs.pages import PAGES, REPOSITORY, Block, biorel_arguments, blocks, page_name

# Installation and the tests themselves: .ci/run does both.
SETUP = ("python3 -m venv", ".venv/bin/pip install", ".venv/bin/pytest", ".ci/run")
SHELL_PAGES = [page for page in PAGES if blocks(page, "sh")]
# These pages take seconds, the others minutes.
QUICK = {"README.md", "CONTRIBUTING.md", "docs/guide/extract.md"}


def parameters(pages: list[Path]) -> list[object]:
    """Pages as parameters; those that train are marked slow."""
    return [
        pytest.param(page, id=page_name(page), marks=() if page_name(page) in QUICK else pytest.mark.slow)
        for page in pages
    ]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with what biorel ships, as the current folder."""
    for name in ("resources", "pipelines"):
        (tmp_path / name).symlink_to(REPOSITORY / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def is_setup(words: list[str]) -> bool:
    return shlex.join(words).startswith(SETUP)


def runnable(page: Path) -> list[Block]:
    return [block for block in blocks(page, "sh", "python") if not block.needs]


@pytest.mark.parametrize("page", parameters([page for page in PAGES if runnable(page)]))
def test_examples_of_a_page_run_in_order(page: Path, checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {"__name__": "example"}  # shared: later examples use the names of earlier ones
    for block in runnable(page):
        if block.language == "python":
            exec(compile(block.text, f"<example in {page_name(page)}>", "exec"), names)  # noqa: S102
            continue
        for words in block.commands:
            arguments = biorel_arguments(words)
            if arguments is None:
                assert is_setup(words), f"{shlex.join(words)}: not a biorel command; say what it needs"
                continue
            code, _, err = command_line(capsys, *arguments)
            assert code == 0, f"{shlex.join(words)}\n{err}"


@pytest.mark.parametrize("page", SHELL_PAGES, ids=page_name)
def test_every_option_in_a_page_exists(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # in wide help no option is broken over two lines
    monkeypatch.setenv("COLUMNS", "400")
    for block in blocks(page, "sh"):
        for words in block.commands:
            arguments = biorel_arguments(words)
            if arguments is None:
                continue
            names = arguments[: 2 if arguments[0] == "fetch" else 1]
            code, out, err = command_line(capsys, *names, "--help")
            assert code == 0, f"{shlex.join(words)}: no such command\n{err}"
            known = set(out.replace("/", " ").replace(",", " ").split())
            options = {word.partition("=")[0] for word in arguments if word.startswith("--")}
            assert options <= known, f"{shlex.join(words)}: no option {sorted(options - known)}"


@pytest.mark.parametrize("page", SHELL_PAGES, ids=page_name)
def test_every_block_is_run_or_says_what_it_needs(page: Path) -> None:
    for block in blocks(page, "sh"):
        programs = [words for words in block.commands if biorel_arguments(words) is None and not is_setup(words)]
        assert block.needs or not programs, f"{programs} in a block that says nothing about its needs"
        assert block.commands


def test_the_relation_in_the_readme_is_the_first_of_the_sample(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (shown,) = blocks(REPOSITORY / "README.md", "json")
    expected = json.loads(shown.text)
    commands = [words for block in blocks(REPOSITORY / "README.md", "sh") for words in block.commands]
    first = next(words for words in commands if "extract" in words)
    assert command_line(capsys, *first[1:])[0] == 0
    row = json.loads(Path("relations.jsonl").read_text(encoding="utf-8").splitlines()[0])
    row["score"] = round(row["score"], 2)
    row["evidence"] = [{**row["evidence"][0], "weight": round(row["evidence"][0]["weight"], 2)}]
    assert row == expected


def test_no_page_names_a_package_index() -> None:
    others = [REPOSITORY / name for name in ("Dockerfile", "pyproject.toml", "constraints.txt", ".ci/run")]
    for path in (*PAGES, *others):
        text = path.read_text(encoding="utf-8").lower()
        assert "index-url http" not in text
        assert not re.findall(r"\bpypi\.\w|\bpytorch\.\w", text), path
