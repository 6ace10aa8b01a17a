"""Writes one page a command, docs/commands/NAME.md, from the help of the command line.

The pages are made at each build and are not checked in, so they cannot differ from `biorel COMMAND --help`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
import typer.main
from sphinx.application import Sphinx

from biorel.cli.app import app as command_line

FOLDER = "commands"
_INDEX = """# Commands

Each page shows the options of one command, as `biorel COMMAND --help` prints them. Every option can also be given in a
TOML file (`--config FILE`); an option on the command line takes precedence over the file.

Exit codes: 0 success, 1 an error inside biorel or a failed check of `doctor`, 2 options, 3 input, 4 model, 5 output,
6 a network service. An error is one line and a hint on stderr; `biorel --debug COMMAND ...` also shows the traceback.

| command | purpose |
|---|---|
{rows}

```{{toctree}}
:hidden:

{names}
```
"""


def commands() -> Iterator[tuple[str, Any]]:
    """Names and Typer commands in the order of `biorel --help`; a subcommand's name begins with its group's."""
    for name, command in _children(typer.main.get_command(command_line)):
        children = _children(command)
        if children:
            yield from ((f"{name} {child}", below) for child, below in children)
        else:
            yield name, command


def _children(command: Any) -> list[tuple[str, Any]]:
    return list(getattr(command, "commands", {}).items())


def page(name: str, command: Any) -> str:
    """The page of one command in MyST Markdown."""
    with typer.Context(command, info_name=f"biorel {name}") as context:
        usage = " ".join(command.collect_usage_pieces(context))
        rows = [_row(parameter, context) for parameter in command.params]
    example = re.sub(r"^.*?Examples?:\s*", "", (command.epilog or "").replace("\b", ""), flags=re.DOTALL).strip()
    parts = [f"# biorel {name}", *map(_escape, _paragraphs(command)), f"```text\nbiorel {name} {usage}\n```"]
    for title, kind in (("Arguments", "argument"), ("Options", "option")):
        chosen = [text for found, text in rows if found == kind and text]
        if chosen:
            parts += [f"## {title}", "\n\n".join(chosen)]
    if example:
        parts += ["## Example", f"```sh\n{example}\n```"]
    return "\n\n".join(part for part in parts if part) + "\n"


def _paragraphs(command: Any) -> list[str]:
    """The paragraphs of the help text, each on one line."""
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", (command.help or "").replace("\b", "").strip())]


def _row(parameter: Any, context: typer.Context) -> tuple[str, str]:
    """An entry of a MyST definition list, and the parameter's kind."""
    record = parameter.get_help_record(context)
    if record is None:
        return parameter.param_type_name, ""
    label, text = (" ".join(part.split()) for part in record)
    return parameter.param_type_name, f"`{label}`\n: {_escape(text)}"


def _escape(text: str) -> str:
    """Help texts are plain text: Markdown must not read them as markup."""
    return re.sub(r"([\\*_<>\[\]|`#^{}$])", r"\\\1", text)


def write_pages(folder: Path) -> None:
    """Write a page for each command and their index; a page that did not change keeps its time."""
    folder.mkdir(parents=True, exist_ok=True)
    made, rows = {}, []
    for name, command in commands():
        file = name.replace(" ", "-")
        made[file] = page(name, command)
        rows.append(f"| [{name}]({file}.md) | {_escape(_paragraphs(command)[0])} |")
    made["index"] = _INDEX.format(rows="\n".join(rows), names="\n".join(made))
    for old in folder.glob("*.md"):
        if old.stem not in made:
            old.unlink()
    for file, text in made.items():
        path = folder / f"{file}.md"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", lambda sphinx: write_pages(Path(sphinx.srcdir) / FOLDER))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
