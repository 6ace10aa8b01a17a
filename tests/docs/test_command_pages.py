"""The pages made from the help of the commands."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import REPOSITORY

pytest.importorskip("sphinx")
sys.path.insert(0, str(REPOSITORY / "docs" / "_ext"))
import command_pages

COMMANDS: dict[str, Any] = dict(command_pages.commands())


def test_every_command_has_a_page(tmp_path: Path) -> None:
    (tmp_path / "removed.md").write_text("an old command", encoding="utf-8")
    command_pages.write_pages(tmp_path)
    assert {"extract", "train", "fetch pubmed"} <= set(COMMANDS)
    files = {path.stem for path in tmp_path.glob("*.md")}
    assert files == {"index", *(name.replace(" ", "-") for name in COMMANDS)}
    index = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert all(f"[{name}](" in index for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_has_every_option_and_the_example(name: str) -> None:
    command = COMMANDS[name]
    text = command_pages.page(name, command)
    options = [option for parameter in command.params for option in parameter.opts if option.startswith("--")]
    assert options
    assert not [option for option in options if not re.search(rf"^`[^`\n]*{option}\b", text, re.MULTILINE)]
    assert f"```sh\nbiorel {name} " in text
