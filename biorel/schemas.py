"""The Parquet schemas of all tables. The columns of a table are the fields of its record. Their types are set here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, is_dataclass
from typing import Any, TypeVar

import pyarrow as pa

from biorel import records
from biorel import records as answers

R = TypeVar("R")

_STRING = pa.string()
_INTS = pa.list_(pa.int32())
_SPAN = pa.list_(pa.int32(), 2)
_ENTITY = pa.struct([("id", _STRING), ("type", _STRING), ("name", _STRING)])
_MENTION_PAIR = pa.struct([("head", _SPAN), ("tail", _SPAN), ("weight", pa.float32()), ("sentence", _SPAN)])
_EVIDENCE = pa.list_(_MENTION_PAIR)
_ANSWER = pa.struct([("start", pa.int32()), ("end", pa.int32()), ("text", _STRING), ("entity_id", _STRING)])


def _schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema(list(columns.items()))


SCHEMAS: dict[type, pa.Schema] = {
    records.Document: _schema(doc_id=_STRING, title=_STRING, abstract=_STRING),
    records.Article: _schema(doc_id=_STRING, year=pa.int32(), version=pa.int32(), abstract_source=_STRING),
    records.Mention: _schema(
        doc_id=_STRING, start=pa.int32(), end=pa.int32(), text=_STRING, type=_STRING, entity_id=_STRING
    ),
    records.Curation: _schema(
        doc_id=_STRING,
        head_type=_STRING,
        head_id=_STRING,
        relation=_STRING,
        tail_type=_STRING,
        tail_id=_STRING,
        asserted=pa.bool_(),
    ),
    records.Pair: _schema(
        doc_id=_STRING,
        head_id=_STRING,
        head_type=_STRING,
        tail_id=_STRING,
        tail_type=_STRING,
        relations=pa.list_(_STRING),
        excluded_because=_STRING,
    ),
    records.Example: _schema(
        doc_id=_STRING,
        token_ids=_INTS,
        token_starts=_INTS,
        token_ends=_INTS,
        sentence_starts=_INTS,
        ner_tags=_INTS,
        entity_ids=pa.list_(_STRING),
        entity_types=pa.list_(_STRING),
        mention_entities=_INTS,
        mention_starts=_INTS,
        mention_ends=_INTS,
        mention_char_starts=_INTS,
        mention_char_ends=_INTS,
        pair_heads=_INTS,
        pair_tails=_INTS,
        pair_labels=pa.list_(_INTS),
        pair_exclusions=pa.list_(_STRING),
        pair_features=pa.list_(pa.list_(pa.float32())),
        pair_lexical_features=pa.list_(_INTS),
        branch_tokens=pa.list_(_INTS),
        branch_anchors=pa.list_(_INTS),
    ),
    records.Score: _schema(doc_id=_STRING, head_id=_STRING, tail_id=_STRING, relation=_STRING, score=pa.float32()),
    records.Relation: _schema(
        doc_id=_STRING, head=_ENTITY, relation=_STRING, tail=_ENTITY, score=pa.float32(), evidence=_EVIDENCE
    ),
    records.Name: _schema(name=_STRING, type=_STRING, entity_id=_STRING, source=_STRING, count=pa.int32()),
    records.Triple: _schema(
        subject=_STRING,
        predicate=_STRING,
        object=_STRING,
        subject_id=_STRING,
        object_id=_STRING,
        source=_STRING,
        pmids=pa.list_(_STRING),
    ),
    records.Status: _schema(
        doc_id=_STRING,
        line=pa.int64(),
        status=_STRING,
        reason=_STRING,
        relations=pa.int32(),
        tokens=pa.int32(),
        windows=pa.int32(),
    ),
    answers.CorpusTriple: _schema(
        head=_ENTITY,
        relation=_STRING,
        tail=_ENTITY,
        score=pa.float32(),
        support=pa.int32(),
        documents=pa.list_(_STRING),
        best_document=_STRING,
        best_score=pa.float32(),
        evidence=_MENTION_PAIR,
        sentence=_STRING,
    ),
    answers.Question: _schema(
        question_id=_STRING,
        doc_id=_STRING,
        text=_STRING,
        relation=_STRING,
        asks=_STRING,
        entity_id=_STRING,
        answer_type=_STRING,
        answers=pa.list_(_ANSWER),
        ignored=pa.list_(_STRING),
    ),
}


def _holds_records(type_: pa.DataType) -> bool:
    return pa.types.is_struct(type_) or (pa.types.is_list(type_) and _holds_records(type_.value_type))


# the fields of each record that hold other records
_NESTED = {
    kind: frozenset(column.name for column in schema if _holds_records(column.type)) for kind, schema in SCHEMAS.items()
}
# column names in tables of earlier versions, and their present names
FORMER_NAMES: dict[type, dict[str, str]] = {
    records.Pair: {"drop": "excluded_because"},
    records.Example: {"pair_drops": "pair_exclusions", "pair_cues": "pair_lexical_features"},
}


def to_row(record: Any) -> dict[str, Any]:
    """Convert a record to a row of its table. Nested records also become dicts."""
    kind = type(record)
    nested = _NESTED[kind]
    return {
        name: _unnested(getattr(record, name)) if name in nested else getattr(record, name)
        for name in SCHEMAS[kind].names
    }


def column_values(records: Sequence[Any], name: str) -> list[Any]:
    """The values of one column for the given records. The function is faster than `to_row` on each record."""
    values = [getattr(record, name) for record in records]
    return list(map(_unnested, values)) if name in _NESTED[type(records[0])] else values


def _unnested(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_unnested, value))
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def from_row(kind: type[R], row: dict[str, Any]) -> R:
    """Convert a row to a record. Lists become tuples, because records are immutable."""
    return kind(**{name: _frozen(value) for name, value in row.items()})


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
