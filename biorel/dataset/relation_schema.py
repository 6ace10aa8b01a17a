"""Relation schemas: the labels of a dataset, and the terms of a source that each label stands for.

A schema is a TOML file. The shipped ones are in resources/relations; `derive_schema` makes one from CTD.

    name = "cdr"
    [[relation]]
    name = "chemical_induced_disease"
    head = "Chemical"
    tail = "Disease"
    sources = ["CID"]
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from biorel.errors import ConfigError, InputError
from biorel.resources import resource


class RelationType(BaseModel):
    """One label: its name, its argument types, and the source terms that mean it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    head: str
    tail: str
    sources: tuple[str, ...] = Field(min_length=1)
    symmetric: bool = False


class _SchemaFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    description: str = ""
    relation: tuple[RelationType, ...] = Field(min_length=1)


@dataclass(frozen=True)
class RelationSchema:
    """The labels of a dataset in a fixed order: label 0 is NULL, relation i has label i + 1."""

    name: str
    relations: tuple[RelationType, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(relation.name for relation in self.relations)

    @property
    def pair_types(self) -> tuple[tuple[str, str], ...]:
        """The distinct (head type, tail type), in order of first use."""
        return tuple(dict.fromkeys((relation.head, relation.tail) for relation in self.relations))

    def label(self, source: str, head: str, tail: str) -> str | None:
        """The label for a source term between two entity types, or None if the schema has none."""
        for relation in self.relations:
            if source in relation.sources and (relation.head, relation.tail) == (head, tail):
                return relation.name
        return None


def pair_type_name(head: str, tail: str) -> str:
    """`chemical_disease` for (Chemical, Disease), as in statistics and tables."""
    return f"{head}_{tail}".lower()


def named_schema(name: str) -> RelationSchema:
    """The schema that `--schema` names: a shipped one, or a TOML file.

    Raises:
        InputError, ConfigError: see `load_schema`.
    """
    path = Path(name)
    return load_schema(path if path.suffix == ".toml" else resource("relations", f"{name}.toml"))


def load_schema(path: Path) -> RelationSchema:
    """Read a schema file.

    Raises:
        InputError: the file does not exist.
        ConfigError: the file is not TOML or not a schema; all faults are listed.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such relation schema", "use ctd13, ctd14, cdr, derive, or a TOML file")
    try:
        content = _SchemaFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8-sig")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{path}: not TOML ({error})") from error
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
        raise ConfigError(f"{path}: not a relation schema: {faults}") from error
    names = [relation.name for relation in content.relation]
    if len(set(names)) < len(names):
        raise ConfigError(f"{path}: a relation name occurs twice", "list all its sources in one [[relation]]")
    return RelationSchema(content.name, content.relation)


def schema_toml(schema: RelationSchema) -> str:
    """The schema as the content of a file that `load_schema` reads."""
    lines = [f"name = {_quoted(schema.name)}"]
    for relation in schema.relations:
        sources = ", ".join(map(_quoted, relation.sources))
        lines += ["", "[[relation]]", f"name = {_quoted(relation.name)}", f"head = {_quoted(relation.head)}"]
        lines += [f"tail = {_quoted(relation.tail)}", f"sources = [{sources}]"]
        lines += ["symmetric = true"] if relation.symmetric else []
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A TOML string. TOML has the escapes of JSON, but also requires one for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
