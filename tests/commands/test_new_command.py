"""A new command is a file of options, a file with `run`, and one line in the table."""

from __future__ import annotations

import sys
from types import MappingProxyType

import pytest
import typer

from biorel import commands
from biorel.commands import COMMANDS, TOOLS, Command, run
from biorel.config.run import Run
from tests.command_runs import command_line

CONFIG = '''
from pathlib import Path
from pydantic import Field
from biorel.config.base import FORCE, OUT, Config


class Shout(Config):
    """Write a word in capitals. Then stop."""

    example = "biorel shout --word hello --out runs/shout.txt"

    word: str = Field(description="the word to write")
    out: Path = OUT
    force: bool = FORCE
'''
MODULE = """
from biorel import artifacts
from biorel.artifacts import Artifact


def run(config, progress):
    progress.line("shouting")
    with artifacts.whole_file(config.out, force=config.force) as path:
        path.write_text(config.word.upper())
    return Artifact(label="shout", path=config.out, summary=[f"{len(config.word)} letters"])
"""


@pytest.fixture
def shout(tmp_path, monkeypatch):
    """Adds a command `shout` to the table."""
    package = tmp_path / "extra_commands"
    package.mkdir()
    (package / "shout_config.py").write_text(CONFIG)
    (package / "shout.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    line = Command("extra_commands.shout_config.Shout", "extra_commands.shout", TOOLS, suffix=".txt")
    table = MappingProxyType({**COMMANDS, "shout": line})
    monkeypatch.setattr(commands, "COMMANDS", table)
    monkeypatch.setattr(run, "COMMANDS", table)
    # the command line is made from the table when it is imported
    for name in [name for name in sys.modules if name.startswith(("biorel.cli", "extra_commands"))]:
        monkeypatch.delitem(sys.modules, name)
    import biorel.cli.app as app

    monkeypatch.setattr("tests.command_runs.main", app.main)
    yield typer.main.get_command(app.app)
    for name in [name for name in sys.modules if name.startswith("extra_commands")]:
        del sys.modules[name]


@pytest.mark.usefixtures("shout")
def test_runs_on_the_command_line(tmp_path, capsys):
    code, out, err = command_line(capsys, "shout", "--word", "hello", "-o", tmp_path / "a.txt")
    assert (code, out, err) == (0, f"5 letters\nshout: {tmp_path / 'a.txt'}\n", "shouting\n")
    assert (tmp_path / "a.txt").read_text() == "HELLO"
    code, _, err = command_line(capsys, "shout", "--word", "hello", "--out", tmp_path / "a.txt")
    assert (code, "exists already" in err) == (5, True)


@pytest.mark.usefixtures("shout")
def test_help_lists_it_under_its_heading(capsys):
    _, out, _ = command_line(capsys, "-h")
    heading, _, rest = out.partition("Pipelines and tools:\n")
    assert "shout" not in heading
    assert [line for line in rest.splitlines() if line.split() == ["shout", "Write", "a", "word", "in", "capitals."]]


@pytest.mark.usefixtures("shout")
def test_runs_as_a_stage_of_a_pipeline(tmp_path):
    (tmp_path / "p.toml").write_text('[[stage]]\nname = "loud"\ncommand = "shout"\nword = "hey"\n')
    config = Run(pipeline=tmp_path / "p.toml", out=tmp_path / "out")
    assert run.run(config).details["ran"] == ["loud"]
    assert (tmp_path / "out" / "loud.txt").read_text() == "HEY"
    assert run.run(config).details["ran"] == []
