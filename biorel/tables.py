"""Parquet tables written and read as streams of records: memory holds one row group, not the table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from biorel.errors import InputError
from biorel.schemas import SCHEMAS, from_row, to_row

R = TypeVar("R")

ROWS_PER_GROUP = 4096


class TableWriter(Generic[R]):
    """Writes records of one kind to a Parquet file, a row group at a time. A context manager."""

    def __init__(self, path: Path, kind: type[R], rows_per_group: int = ROWS_PER_GROUP) -> None:
        self._schema = SCHEMAS[kind]
        self._file = pq.ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []
        self._rows_per_group = rows_per_group

    def write(self, records: Iterable[R]) -> None:
        for record in records:
            self._rows.append(to_row(record))
            if len(self._rows) >= self._rows_per_group:
                self._flush()

    def _flush(self) -> None:
        if self._rows:
            self._file.write_table(pa.Table.from_pylist(self._rows, schema=self._schema))
            self._rows = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._flush()
        self._file.close()


def write_table(path: Path, kind: type[R], records: Iterable[R]) -> None:
    """Write all records as one table."""
    with TableWriter(path, kind) as writer:
        writer.write(records)


def read_table(path: Path, kind: type[R]) -> Iterator[R]:
    """Yield the table's records in file order.

    Raises:
        InputError: the file is missing, not Parquet, or has other columns than the record's.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such table", "is this a folder that biorel wrote?")
    try:
        file = pq.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise InputError(f"{path}: not a Parquet file ({error})") from error
    expected = SCHEMAS[kind].names
    found = file.schema_arrow.names
    # the last columns of a record may have come later; where they are missing they have their defaults
    if found != expected and found != _without_defaults(kind):
        raise InputError(
            f"{path}: columns {found} where {expected} were expected",
            "the table was written by another version of biorel; build it again",
        )
    with file:
        for batch in file.iter_batches(batch_size=ROWS_PER_GROUP):
            for row in batch.to_pylist():
                yield from_row(kind, row)


def _without_defaults(kind: type) -> list[str]:
    return [field.name for field in fields(kind) if field.default is MISSING]
