"""A pipeline file, or one that is another with some fields changed.

extends = "../cdr.toml"     # relative to this file

[set.model]                           # over the fields of the stage `model`
heads = 0

[unset]                               # fields of a stage that are left to their defaults
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
    """The content of a pipeline file as if it stood there in full.

    A name below `pipelines/` that is no file here is one of those that biorel ships.

    Raises:
        InputError: the file, or one that it extends, cannot be read or is no TOML.
        ConfigError: files extend each other in a circle, or a change names what there is not.
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
            f"{path}: beside extends = FILE only [set.STAGE] and [unset] may stand", "both are for extends only"
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
            f"{path}: {error.strerror or error}", "name a pipeline TOML, such as pipelines/cdr.toml"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path}: not TOML ({error})") from error


def _changed(base: dict[str, Any], changes: dict[str, Any], path: Path) -> dict[str, Any]:
    """The base with its fields unset and set; its stages are looked at no further than that needs."""
    listed = base.get("stage")
    stages = (
        {stage.get("name"): stage for stage in listed if isinstance(stage, dict)} if isinstance(listed, list) else {}
    )
    unset, values = changes.get("unset", {}), changes.get("set", {})
    if not isinstance(unset, dict) or not all(isinstance(fields, list) for fields in unset.values()):
        raise ConfigError(f'{path}: [unset] holds lists of fields, such as dataset = ["merges"]')
    if not isinstance(values, dict) or not all(isinstance(fields, dict) for fields in values.values()):
        raise ConfigError(f"{path}: [set.STAGE] holds fields and their values")
    if strangers := sorted({*unset, *values} - stages.keys()):
        known = ", ".join(map(str, stages))
        raise ConfigError(f"{path}: changes {strangers[0]}, which is no stage", f"stages are {known}")
    for name, fields in unset.items():
        for field in fields:
            if field not in stages[name]:
                raise ConfigError(f"{path}: [unset] {name}: {field} is not set by {changes['extends']}")
            del stages[name][field]
    for name, fields in values.items():
        stages[name].update(fields)
    return base
