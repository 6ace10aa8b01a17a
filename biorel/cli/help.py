"""The page of `biorel --help`: the commands under headings by purpose, each with its whole first sentence."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperGroup

_FIRST_SENTENCE = re.compile(r".+?(?:[.!?](?=\s|$)|$)", re.DOTALL)


class GroupedHelp(TyperGroup):
    """A group of commands whose help lists them under their headings."""

    # Typer bundles its own Click in some versions and depends on Click in others, so these types have no common name
    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one section for each heading, in the order of the commands."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                heading = str(getattr(command, "rich_help_panel", None) or "Commands")
                sections.setdefault(heading, []).append((name, first_sentence(command.help or "")))
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl(rows)


def first_sentence(text: str) -> str:
    """The first sentence of a help text, on one line."""
    found = _FIRST_SENTENCE.match(text.strip())
    return " ".join(found[0].split()) if found else ""
