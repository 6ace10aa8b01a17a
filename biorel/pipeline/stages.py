"""The stages of a pipeline as plain tables, with `--set` applied and placeholders filled in.

    [[stage]]
    name = "model"
    command = "train"
    dataset = "{dataset}"

`{data}` is the folder of `--data`, `{out}` that of `--out`, `{NAME}` the output of an earlier stage.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biorel.errors import ConfigError
from biorel.pipeline.pipeline_file import read_pipeline

Table = dict[str, Any]
_NAME = re.compile(r"[\w-]+")
_PLACEHOLDER = re.compile(r"\{([\w-]+)\}")


@dataclass(frozen=True)
class StageKind:
    """What a pipeline must know about a command.

    Attributes:
        options: names of the command's options.
        suffix: suffix of the command's output file; empty if the output is a folder.
        gathers: whether one run of the command takes the outputs of all seeds.
    """

    options: frozenset[str]
    suffix: str = ""
    gathers: bool = False


def read_stages(path: Path, changes: Sequence[str], commands: Mapping[str, StageKind]) -> list[Table]:
    """Read the stages of a pipeline file; each has a unique `name` and a known `command`.

    Args:
        changes: `STAGE.FIELD=VALUE`, each of which replaces or adds one field.
        commands: the commands that a stage may name.

    Raises:
        InputError: the file cannot be read or is not TOML.
        ConfigError: the file is not a pipeline, or a change is malformed or names an unknown stage.
    """
    content = read_pipeline(path)
    stages: list[Table] = content.get("stage", [])
    are_tables = isinstance(stages, list) and all(isinstance(stage, dict) for stage in stages)
    names = [str(stage.get("name", "")) for stage in stages] if are_tables else []
    if not names or not all(map(_NAME.fullmatch, names)) or len(set(names)) < len(names):
        raise ConfigError(
            f"{path}: a pipeline is a list of [[stage]] tables, each with a unique name",
            "a name consists of letters, digits, - and _",
        )
    for stage in stages:
        if str(stage.get("command")) not in commands:
            raise ConfigError(f"{path}: stage {stage['name']}: command must be one of {', '.join(commands)}")
    for change in changes:
        target, equals, value = change.partition("=")
        name, dot, field = target.partition(".")
        if not equals or not dot or name not in names:
            raise ConfigError(f"--set {change}: not STAGE.FIELD=VALUE", f"stages are {', '.join(names)}")
        stages[names.index(name)][field] = _literal(value)
    return stages


def _literal(value: str) -> Any:
    """The value as TOML reads it; the text itself if it is not TOML."""
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return value


def placeholders(stage: Table) -> frozenset[str]:
    """The names of all placeholders in a stage."""
    return frozenset(_PLACEHOLDER.findall(json.dumps(stage, default=str)))


def fill(value: Any, paths: Mapping[str, str], stage: str) -> Any:
    """Replace every placeholder by its path, also inside tables and lists.

    Raises:
        ConfigError: a placeholder has no path; the message names the stage.
    """
    if isinstance(value, dict):
        return {name: fill(item, paths, stage) for name, item in value.items()}
    if isinstance(value, list):
        return [fill(item, paths, stage) for item in value]
    if not isinstance(value, str):
        return value
    missing = [name for name in _PLACEHOLDER.findall(value) if name not in paths]
    if missing:
        hint = "give --data FOLDER" if missing[0] == "data" else f"placeholders are {', '.join(paths)}"
        raise ConfigError(f"stage {stage}: {{{missing[0]}}} has no value", hint)
    return _PLACEHOLDER.sub(lambda match: paths[match[1]], value)
