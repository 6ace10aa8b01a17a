"""The program `biorel`: one subcommand for each entry of `COMMANDS`, one way to print results and errors."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import Annotated, Any, NoReturn

import typer

from biorel import __version__
from biorel.artifacts import Artifact
from biorel.cli.help import GroupedHelp
from biorel.cli.options import add_command
from biorel.cli.progress import TerminalProgress
from biorel.commands import COMMANDS, GROUPS
from biorel.config import Config
from biorel.errors import BiorelError, InputError

_DEBUG = "--debug"
_STYLE: dict[str, Any] = {
    "no_args_is_help": True,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}

app = typer.Typer(
    cls=GroupedHelp,
    help="From biomedical abstracts to linked, scored, evidenced relations.",
    add_completion=False,
    pretty_exceptions_enable=False,
    **_STYLE,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"biorel {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version),
    ] = False,
    debug: Annotated[bool, typer.Option(_DEBUG, help="Print the traceback of an error.")] = False,
) -> None:
    pass


def _add_commands() -> None:
    """Add every command; one named with two words, such as `fetch ctd`, goes into a group named by the first."""
    groups: dict[str, typer.Typer] = {}
    for name, command in COMMANDS.items():
        group, _, word = name.rpartition(" ")
        if not group:
            add_command(app, word, command.config_class, _runner(name), command.group)
            continue
        if group not in groups:
            groups[group] = typer.Typer(cls=GroupedHelp, help=GROUPS[group], epilog=_examples(group), **_STYLE)
            app.add_typer(groups[group], name=group, rich_help_panel=command.group)
        add_command(groups[group], word, command.config_class, _runner(name), "Commands")


def _examples(group: str) -> str:
    examples = [command.config_class.example for name, command in COMMANDS.items() if name.startswith(f"{group} ")]
    return "\b\nExamples:\n" + "\n".join(f"  {example}" for example in examples)


def _runner(name: str) -> Callable[[Config], None]:
    return lambda config: _print(COMMANDS[name].run(config, TerminalProgress()))


def _print(made: Artifact) -> None:
    """Print the result of a command; if it failed or found bad records, end the program with an exit status."""
    for line in made.summary:
        typer.echo(line)
    if made.path is not None:
        typer.echo(f"{made.label}: {made.path}")
    if made.bad_records and not made.bad_accepted:
        for place in made.bad_records:
            typer.echo(f"bad record: {place}", err=True)
        typer.echo("hint: all other records were read; correct these, or accept them with --skip-bad", err=True)
        raise typer.Exit(InputError.exit_code)
    if made.failed:
        raise typer.Exit(1)


_add_commands()


def main() -> None:
    """Run the program. An error is printed to stderr as one line and a hint, and sets the exit status."""
    try:
        app()
    except BiorelError as error:
        _fail(error)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        _fail(BiorelError(f"unexpected {reason}", f"this is a bug in biorel; `biorel {_DEBUG} ...` shows where"))


def _fail(error: BiorelError) -> NoReturn:
    if _DEBUG in sys.argv:
        traceback.print_exc()
    typer.echo(f"error: {error.message}", err=True)
    if error.hint:
        typer.echo(f"hint: {error.hint}", err=True)
    sys.exit(error.exit_code)
