"""The numbering of relation labels and of BIO tags, as datasets and model folders store it in labels.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from biorel.artifacts import read_json_object
from biorel.dataset.relation_schema import RelationSchema, RelationType
from biorel.errors import ModelError

LABELS = "labels.json"
OUTSIDE = "O"


def ner_labels(types: Sequence[str]) -> tuple[str, ...]:
    """`O`, then `B-` and `I-` of each entity type; the number of a tag is its index."""
    return (OUTSIDE, *(f"{prefix}-{type_}" for type_ in types for prefix in "BI"))


def bio_spans(tags: Sequence[int], labels: Sequence[str]) -> list[tuple[int, int, str]]:
    """Decode BIO tags into half-open token spans (start, end, type), in order.

    `B-` always begins a span. `I-` continues a span of its own type and otherwise (after `O`, after another type, at
    the start) begins one, so that a wrong tag costs a boundary rather than the entity.

    Args:
        tags: [T] indices into `labels`.
        labels: see `ner_labels`.
    """
    spans: list[tuple[int, int, str]] = []
    start, open_type = 0, ""
    for token, tag in enumerate([*tags, None]):
        prefix, _, type_ = (OUTSIDE if tag is None else labels[tag]).partition("-")
        if prefix == "I" and type_ == open_type:
            continue
        if open_type:
            spans.append((start, token, open_type))
        start, open_type = token, type_
    return spans


def labels_to_json(schema: RelationSchema, ner: Sequence[str]) -> dict[str, Any]:
    """The content of labels.json."""
    relations = [relation.model_dump(mode="json") for relation in schema.relations]
    return {"schema": schema.name, "relations": relations, "ner": list(ner)}


def labels_from_json(content: Mapping[str, Any], path: Path) -> tuple[RelationSchema, tuple[str, ...]]:
    """The relation schema and the BIO labels.

    Args:
        content: written by `labels_to_json`.
        path: the file to name in the error message.

    Raises:
        ModelError: the content has another structure.
    """
    try:
        relations = tuple(RelationType.model_validate(relation) for relation in content["relations"])
        return RelationSchema(content["schema"], relations), tuple(content["ner"])
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"{path}: not a labels file ({error})") from error


def read_labels(folder: Path) -> tuple[RelationSchema, tuple[str, ...]]:
    """The relation schema and the BIO labels of a dataset or model folder.

    Raises:
        ModelError: labels.json is missing or malformed.
    """
    return labels_from_json(read_json_object(folder / LABELS), folder / LABELS)
