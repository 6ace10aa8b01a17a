"""Files of relations: the writer of JSON lines, and the reader of JSON lines (plain or gzip) and Parquet."""

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
_MOST_CHARACTERS = 2**31  # what an offset of a table can count
_RELATION = TypeAdapter(Relation)
_SHOWN = 120
_HINT = "relations are read from JSONL or Parquet, as biorel extract writes them"


def read_relations(path: Path, counts: Counts) -> Iterator[Relation]:
    """Yield the relations of a file in file order; a file without any is a valid one.

    Args:
        path: told as Parquet or JSON lines by its first bytes.
        counts: books the relations read.

    Raises:
        InputError: the file cannot be read, or one of its lines (Parquet: rows) is no relation.
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
                raise _no_relation(place, error) from error


def _from_parquet(path: Path) -> Iterator[tuple[str, Relation]]:
    for number, record in enumerate(read_table(path, Relation), start=1):
        place = f"{path}: row {number}"
        try:
            # the columns of a struct come as a dict, which only this makes a record again
            yield place, _RELATION.validate_python(to_row(record))
        except ValidationError as error:
            raise _no_relation(place, error) from error


def _no_relation(place: str, error: ValidationError) -> InputError:
    """The first fault that pydantic found, in one line."""
    fault = error.errors()[0]
    name = ".".join(str(part) for part in fault["loc"])[:_SHOWN]
    return InputError(f"{place}: not a relation ({name + ': ' if name else ''}{fault['msg'][:_SHOWN]})", _HINT)


def _fault(relation: Relation) -> str:
    """What no relation can be; empty for a sound one."""
    for name, value in (
        ("doc_id", relation.doc_id),
        ("head.id", relation.head.id),
        ("relation", relation.relation),
        ("tail.id", relation.tail.id),
    ):
        if not value.strip():
            return f"{name} is empty"
    if not all(map(math.isfinite, (relation.score, *(evidence.weight for evidence in relation.evidence)))):
        return "a score or weight that is no finite number"
    spans = (span for evidence in relation.evidence for span in _spans(evidence))
    if not all(0 <= start < end < _MOST_CHARACTERS for start, end in spans):
        return "evidence with a span that is none (start and end are offsets, half-open)"
    return ""


def _spans(evidence: Evidence) -> tuple[tuple[int, int], ...]:
    return (evidence.head, evidence.tail, evidence.sentence)


# ---- writing
_DIGITS = 6


class JsonlWriter:
    """Writes relations as JSON lines; the documents are not in the file. A context manager."""

    def __init__(self, path: Path) -> None:
        self._stream = path.open("w", encoding="utf-8", newline="\n")

    def write(self, document: Document | None, mentions: Sequence[Mention], relations: Sequence[Relation]) -> None:
        """Write one line for each relation.

        Raises:
            ValueError: a score or a weight is not finite, which JSON cannot say.
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
    """The relation as an object of JSON; score and weights have six digits after the point."""
    row = to_row(relation)
    row["score"] = round(relation.score, _DIGITS)
    for evidence in row["evidence"]:
        evidence["weight"] = round(evidence["weight"], _DIGITS)
    return row
