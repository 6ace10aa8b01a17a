"""Reads a pipeline file, which either lists its stages or changes some fields of another file.

extends = "../cdr.toml"     # relative to this file

[set.model]                           # replaces or adds fields of the stage `model`
heads = 0

[unset]                               # removes fields of a stage, so that their defaults apply
dataset = ["merges"]
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from biorel.errors import ConfigError, InputError
from biorel.resources import shipped_pipeline

_OF_EXTENSION = {"extends", "set", "unset"}


def read_pipeline(path: Path) -> dict[str, Any]:
    """The content of a pipeline file, with all changes applied to the file that it extends.

    If `pipelines/NAME` does not exist in the current folder, it is the pipeline of that name that comes with biorel.

    Raises:
        InputError: the file, or one that it extends, cannot be read or is not TOML.
        ConfigError: files extend each other in a circle, or a change names an unknown stage or field.
    """
    if not path.is_file() and path.parts[:1] == ("pipelines",):
        path = shipped_pipeline(*path.parts[1:]) or path
    return _read(path, ())


def _read(path: Path, below: tuple[Path, ...]) -> dict[str, Any]:
    content = _toml(path)
    if not _OF_EXTENSION & content.keys():
        return content
    if not isinstance(content.get("extends"), str) or content.keys() - _OF_EXTENSION:
        raise ConfigError(
            f"{path}: a file with extends = FILE may hold only [set.STAGE] and [unset]; they need extends"
        )
    chain = (*below, path.resolve())
    base = path.parent / content["extends"]
    if base.resolve() in chain:
        raise ConfigError(f"{path}: extends {content['extends']}, which extends it")
    return _changed(_read(base, chain), content, path)


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(
            f"{path}: {error.strerror or error}", "give a pipeline file, such as pipelines/cdr.toml"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path}: not TOML ({error})") from error


def _changed(base: dict[str, Any], changes: dict[str, Any], path: Path) -> dict[str, Any]:
    """The base with fields removed and set. Its stages are validated later."""
    listed = base.get("stage")
    stages = (
        {stage.get("name"): stage for stage in listed if isinstance(stage, dict)} if isinstance(listed, list) else {}
    )
    unset, values = changes.get("unset", {}), changes.get("set", {})
    if not isinstance(unset, dict) or not all(isinstance(fields, list) for fields in unset.values()):
        raise ConfigError(f'{path}: [unset] holds lists of fields, such as dataset = ["merges"]')
    if not isinstance(values, dict) or not all(isinstance(fields, dict) for fields in values.values()):
        raise ConfigError(f"{path}: [set.STAGE] holds fields and their values")
    if unknown := sorted({*unset, *values} - stages.keys()):
        known = ", ".join(map(str, stages))
        raise ConfigError(f"{path}: changes {unknown[0]}, which is not a stage", f"stages are {known}")
    for name, fields in unset.items():
        for field in fields:
            if field not in stages[name]:
                raise ConfigError(f"{path}: [unset] {name}: {field} is not set in {changes['extends']}")
            del stages[name][field]
    for name, fields in values.items():
        stages[name].update(fields)
    return base
