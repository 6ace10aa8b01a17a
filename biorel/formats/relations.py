"""Read relations from JSON lines (plain or gzip) or Parquet, and write them as JSON lines."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import TypeAdapter, ValidationError

from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.formats.files import read_head, read_lines
from biorel.records import Document, Evidence, Mention, Relation
from biorel.schemas import to_row
from biorel.tables import read_table

_PARQUET_MAGIC = b"PAR1"
_MOST_CHARACTERS = 2**31  # the largest offset that a table can hold
_RELATION = TypeAdapter(Relation)
_SHOWN = 120
_HINT = "relations should be JSONL or Parquet in the form that biorel extract writes"


def read_relations(path: Path, counts: Counts) -> Iterator[Relation]:
    """Yield the relations of a file in file order. A file without relations is valid.

    Args:
        path: a Parquet or JSON-lines file. The format is detected from the first bytes.
        counts: receives the number of relations read.

    Raises:
        InputError: the file cannot be read, or one of its lines or rows is not a relation.
    """
    if read_head(path, len(_PARQUET_MAGIC)) == _PARQUET_MAGIC:
        relations = _from_parquet(path)
    else:
        relations = _from_jsonl(path, counts)
    for place, relation in relations:
        fault = _fault(relation)
        if fault:
            raise InputError(f"{place}: {fault}", _HINT)
        counts.add(Reason.RELATIONS_READ)
        yield relation


def _from_jsonl(path: Path, counts: Counts) -> Iterator[tuple[str, Relation]]:
    for number, line in read_lines(path, counts):
        if line.strip():
            place = f"{path}:{number}"
            try:
                yield place, _RELATION.validate_json(line)
            except ValidationError as error:
                raise _not_a_relation(place, error) from error


def _from_parquet(path: Path) -> Iterator[tuple[str, Relation]]:
    for number, record in enumerate(read_table(path, Relation), start=1):
        place = f"{path}: row {number}"
        try:
            # a struct column is read as a dict, and the validation turns it into a record again
            yield place, _RELATION.validate_python(to_row(record))
        except ValidationError as error:
            raise _not_a_relation(place, error) from error


def _not_a_relation(place: str, error: ValidationError) -> InputError:
    """An error that states the first fault found by pydantic, on one line."""
    fault = error.errors()[0]
    name = ".".join(str(part) for part in fault["loc"])[:_SHOWN]
    return InputError(f"{place}: not a relation ({name + ': ' if name else ''}{fault['msg'][:_SHOWN]})", _HINT)


def _fault(relation: Relation) -> str:
    """The first fault of a relation, or an empty string if the relation is valid."""
    for name, value in (
        ("doc_id", relation.doc_id),
        ("head.id", relation.head.id),
        ("relation", relation.relation),
        ("tail.id", relation.tail.id),
    ):
        if not value.strip():
            return f"{name} is empty"
    if not all(map(math.isfinite, (relation.score, *(evidence.weight for evidence in relation.evidence)))):
        return "a score or weight is not a finite number"
    spans = (span for evidence in relation.evidence for span in _spans(evidence))
    if not all(0 <= start < end < _MOST_CHARACTERS for start, end in spans):
        return "a span of the evidence is invalid (start and end must be offsets with start before end)"
    return ""


def _spans(evidence: Evidence) -> tuple[tuple[int, int], ...]:
    return (evidence.head, evidence.tail, evidence.sentence)


# ---- writing
_DIGITS = 6


class JsonlWriter:
    """A context manager that writes relations, without their documents, as JSON lines."""

    def __init__(self, path: Path) -> None:
        self._stream = path.open("w", encoding="utf-8", newline="\n")

    def write(self, document: Document | None, mentions: Sequence[Mention], relations: Sequence[Relation]) -> None:
        """Write one line for each relation.

        Raises:
            ValueError: a score or weight is not finite, which JSON cannot express.
        """
        for relation in relations:
            self._stream.write(json.dumps(relation_row(relation), ensure_ascii=False, allow_nan=False) + "\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()


def relation_row(relation: Relation) -> dict[str, Any]:
    """The relation as a JSON object; score and weights are rounded to six decimal places."""
    row = to_row(relation)
    row["score"] = round(relation.score, _DIGITS)
    for evidence in row["evidence"]:
        evidence["weight"] = round(evidence["weight"], _DIGITS)
    return row
