"""Makes the flags of a command from its options class: each field becomes one flag with one line of help.

Values are passed on as text and validated by the options class, which reports all faults at once. A flag that is not
given is not passed on, so that the value of a `--config` file or the default applies.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import typer
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from biorel.config import Config, load

_CONFIG_HELP = "TOML file with these options; flags take precedence"
_SHORT_FLAGS = {"out": "-o"}


def add_command(app: typer.Typer, name: str, kind: type[Config], call: Callable[[Config], None], heading: str) -> None:
    """Add a command to `app`.

    Args:
        name: the word that calls the command.
        kind: the class of its options.
        call: runs the command with the validated options.
        heading: the section of `--help` that lists it.
    """

    def invoke(**flags: Any) -> None:
        file = flags.pop("config")
        given = {_option(kind, field): value for field, value in flags.items() if value is not None and value != []}
        call(load(kind, given, file))

    parameters = [_parameter(field, info) for field, info in kind.model_fields.items()]
    parameters.append(
        inspect.Parameter(
            "config",
            inspect.Parameter.KEYWORD_ONLY,
            annotation=Path | None,
            default=typer.Option(None, "--config", help=_CONFIG_HELP),
        )
    )
    invoke.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    invoke.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    invoke.__doc__ = inspect.cleandoc(kind.__doc__ or "")
    required = any(info.is_required() for info in kind.model_fields.values())
    app.command(name, epilog=f"\b\nExample:  {kind.example}", no_args_is_help=required, rich_help_panel=heading)(invoke)


def _option(kind: type[Config], field: str) -> str:
    return kind.model_fields[field].alias or field


def _parameter(name: str, info: FieldInfo) -> inspect.Parameter:
    """The parameter from which Typer makes the flag or argument of a field."""
    annotation, repeatable, metavar = _flag_type(info.annotation)
    text = info.description or ""
    if repeatable and "(repeatable)" not in text:
        text = f"{text} (repeatable)"
    if shown := _default_text(info):
        text = f"{text}  [default: {shown}]"
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    if isinstance(choices := extra.get("choices"), list):
        metavar = "|".join(map(str, choices))
    if extra.get("argument"):
        default: Any = typer.Argument(None, metavar=name.upper(), help=text, show_default=False)
    else:
        flag = f"--{(info.alias or name).replace('_', '-')}"
        flags = [f"{flag}/--no-{flag[2:]}"] if annotation is bool and info.default is True else [flag]
        if name in _SHORT_FLAGS:
            flags.append(_SHORT_FLAGS[name])
        default = typer.Option(None, *flags, help=text, show_default=False, metavar=metavar)
    optional = list[annotation] | None if repeatable else annotation | None  # type: ignore[valid-type]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=optional, default=default)


def _flag_type(annotation: Any) -> tuple[Any, bool, str | None]:
    """The type that Typer parses (text or a switch), whether the flag may be repeated, and its placeholder in help."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is tuple and arguments[-1] is not Ellipsis:
        placeholder = " ".join(argument.__name__.upper() for argument in arguments)
        return tuple[(str,) * len(arguments)], False, placeholder  # type: ignore[misc]
    if origin is tuple:
        kind, _, metavar = _flag_type(arguments[0])
        return kind, True, metavar
    if origin in (Union, types.UnionType):
        return _flag_type(next(argument for argument in arguments if argument is not type(None)))
    if origin is Literal:
        return str, False, "|".join(map(str, arguments))
    return (bool, False, None) if annotation is bool else (str, False, annotation.__name__.upper())


def _default_text(info: FieldInfo) -> str:
    """The default as help shows it; empty if there is no default worth showing."""
    if info.default is PydanticUndefined or info.default in (None, (), False):
        return ""
    if isinstance(info.default, tuple):
        return " ".join(str(item) for item in info.default)
    return str(info.default)
