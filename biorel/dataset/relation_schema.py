"""Relation schemas: which labels there are, and which words of a source become which label.

CTD names over a hundred interaction types. Section 3.3.1 of the paper collapses them: every type is
rolled up to its highest parent; where `affects_X` is more common than increases + decreases, both join it,
else it is dropped. A schema is the outcome, as TOML:

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
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from biorel.errors import ConfigError, InputError

DIRECTIONS = ("increases", "decreases")


class RelationType(BaseModel):
    """One label: its name, the types of its arguments, the words of the sources that mean it."""

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
    """The labels of a dataset, in a fixed order: label 0 is NULL, relation i has label i + 1."""

    name: str
    relations: tuple[RelationType, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(relation.name for relation in self.relations)

    @property
    def pair_types(self) -> tuple[tuple[str, str], ...]:
        """The (head type, tail type) combinations, in order of first use."""
        return tuple(dict.fromkeys((relation.head, relation.tail) for relation in self.relations))

    def label(self, source: str, head: str, tail: str) -> str | None:
        """The label for a source's word between two entity types, or None where the schema drops it."""
        for relation in self.relations:
            if source in relation.sources and (relation.head, relation.tail) == (head, tail):
                return relation.name
        return None


def pair_type_name(head: str, tail: str) -> str:
    """`chemical_disease` for (Chemical, Disease), as statistics and tables name it."""
    return f"{head}_{tail}".lower()


def load_schema(path: Path) -> RelationSchema:
    """Read a schema of biorel's or of the user.

    Raises:
        InputError: no such file.
        ConfigError: not TOML, or not a schema; every fault is named.
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
        raise ConfigError(f"{path}: a relation name occurs twice", "join its sources in one [[relation]]")
    return RelationSchema(content.name, content.relation)


def roll_up(action: str, parents: Mapping[str, str]) -> str:
    """An interaction (`increases^phosphorylation`) at its highest parent (`increases^metabolic_processing`).

    Args:
        action: degree and type joined by `^`; anything else is returned as it is.
        parents: from type to parent type, "" at the top. A cycle ends at the type that closes it.
    """
    degree, caret, type_ = action.partition("^")
    if not caret:
        return action
    seen = {type_}
    while (parent := parents.get(type_, "")) and parent not in seen:
        seen.add(parent)
        type_ = parent
    return f"{degree}^{type_}"


def derive(counts: Mapping[tuple[str, str, str], int], min_share: float) -> RelationSchema:
    """The schema that the paper's rules give on the CTD release at hand.

    Args:
        counts: positives by (head type, rolled-up source word, tail type).
        min_share: a label with a smaller share of all positives is dropped.
    """
    merged: dict[tuple[str, str, str], list[str]] = {}
    for (head, source, tail), _ in sorted(counts.items()):
        name = _collapsed(head, source, tail, counts)
        if name is not None:
            merged.setdefault((head, tail, name), []).append(source)
    support: Counter[tuple[str, str, str]] = Counter(
        {key: sum(counts[key[0], source, key[1]] for source in sources) for key, sources in merged.items()}
    )
    floor = min_share * sum(support.values())
    kept = sorted((key for key, count in support.items() if count >= floor), key=lambda key: (-support[key], key))
    return RelationSchema(
        "derived",
        tuple(
            RelationType(
                name=f"{pair_type_name(head, tail)}:{name}",
                head=head,
                tail=tail,
                sources=tuple(merged[head, tail, name]),
            )
            for head, tail, name in kept
        ),
    )


def _collapsed(head: str, source: str, tail: str, counts: Mapping[tuple[str, str, str], int]) -> str | None:
    """The label's own name for a source word, None where `affects` is the rarer reading and is dropped."""
    degree, caret, type_ = source.partition("^")
    if not caret:
        return source
    undirected = counts.get((head, f"affects^{type_}", tail), 0)
    directed = sum(counts.get((head, f"{direction}^{type_}", tail), 0) for direction in DIRECTIONS)
    if undirected > directed:
        return f"affects_{type_}"
    return f"{degree}_{type_}" if degree in DIRECTIONS else None


def schema_toml(schema: RelationSchema) -> str:
    """The schema as a file that `load_schema` reads."""
    lines = [f"name = {_quoted(schema.name)}"]
    for relation in schema.relations:
        sources = ", ".join(map(_quoted, relation.sources))
        lines += ["", "[[relation]]", f"name = {_quoted(relation.name)}", f"head = {_quoted(relation.head)}"]
        lines += [f"tail = {_quoted(relation.tail)}", f"sources = [{sources}]"]
        lines += ["symmetric = true"] if relation.symmetric else []
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A TOML string; its escapes are those of JSON, and DEL beside."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
