"""The stages of a pipeline as plain tables, with --set applied and the places in them filled.

    [[stage]]
    name = "model"
    command = "train"
    dataset = "{dataset}"

`{data}` is --data, `{out}` is --out, `{NAME}` the output of an earlier stage. Files, and those that
extend others, are read by `pipeline_file`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from biorel.config import Config, Run
from biorel.errors import ConfigError
from biorel.pipeline.pipeline_file import read_pipeline

Progress = Callable[[str], None]
Table = dict[str, Any]
_NAME = re.compile(r"[\w-]+")
_PLACE = re.compile(r"\{([\w-]+)\}")


@dataclass(frozen=True)
class Command:
    """A command that may stand in a pipeline.

    Attributes:
        kind: its configuration.
        run: runs it.
        suffix: of its output, where that is a file.
        gathers: it takes the outputs of all seeds at once.
    """

    kind: type[Config]
    run: Callable[[Any, Progress], object]
    suffix: str = ""
    gathers: bool = False


def read_stages(given: Run, commands: Mapping[str, Command]) -> list[Table]:
    """The stages of the pipeline file, with --set applied; each has a `name` of its own and a known `command`.

    Raises:
        InputError: no such file, or it is not TOML.
        ConfigError: it is no pipeline, extends what it cannot, or a --set names no field of it.
    """
    path = given.pipeline
    content = read_pipeline(path)
    stages: list[Table] = content.get("stage", [])
    tables = isinstance(stages, list) and all(isinstance(stage, dict) for stage in stages)
    names = [str(stage.get("name", "")) for stage in stages] if tables else []
    if not names or not all(map(_NAME.fullmatch, names)) or len(set(names)) < len(names):
        raise ConfigError(
            f"{path}: a pipeline is a list of [[stage]], each with a name of its own",
            "a name is of letters, digits, - and _",
        )
    for stage in stages:
        if str(stage.get("command")) not in commands:
            raise ConfigError(f"{path}: stage {stage['name']}: command is one of {', '.join(commands)}")
    for change in given.set:
        place, equals, value = change.partition("=")
        name, dot, field = place.partition(".")
        if not equals or not dot or name not in names:
            raise ConfigError(f"--set {change}: not STAGE.FIELD=VALUE", f"stages are {', '.join(names)}")
        stages[names.index(name)][field] = _literal(value)
    return stages


def _literal(value: str) -> Any:
    """A value as TOML reads it, or the text itself."""
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return value


def places_in(stage: Table) -> frozenset[str]:
    """The places that a stage names."""
    return frozenset(_PLACE.findall(json.dumps(stage, default=str)))


def filled(value: Any, places: Mapping[str, str], stage: str) -> Any:
    """The value with every {place} replaced, in tables and lists too.

    Raises:
        ConfigError: a place that nothing stands for; the stage is told.
    """
    if isinstance(value, dict):
        return {name: filled(item, places, stage) for name, item in value.items()}
    if isinstance(value, list):
        return [filled(item, places, stage) for item in value]
    if not isinstance(value, str):
        return value
    missing = [name for name in _PLACE.findall(value) if name not in places]
    if missing:
        hint = "give --data FOLDER" if missing[0] == "data" else f"places are {', '.join(places)}"
        raise ConfigError(f"stage {stage}: nothing stands for {{{missing[0]}}}", hint)
    return _PLACE.sub(lambda match: places[match[1]], value)
