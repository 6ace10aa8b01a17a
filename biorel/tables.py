"""Read and write Parquet tables as streams of records. Memory holds one row group, not the table."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from biorel.errors import InputError
from biorel.schemas import FORMER_NAMES, SCHEMAS, column_values, from_row

R = TypeVar("R")

ROWS_PER_GROUP = 4096
# limit of text in a row group, far below the 2 GB that a string column can hold
CHARACTERS_PER_GROUP = 2**26
_SHOWN = 200


class TableWriter(Generic[R]):
    """A context manager that writes records of one kind to a Parquet file, in row groups of bounded size."""

    def __init__(self, path: Path, kind: type[R], rows_per_group: int = ROWS_PER_GROUP) -> None:
        self._schema = SCHEMAS[kind]
        self._texts = [column.name for column in self._schema if column.type == pa.string()]
        self._file = pq.ParquetWriter(path, self._schema, compression="zstd")
        self._records: list[R] = []
        self._rows_per_group = rows_per_group
        self._characters = 0

    def write(self, records: Iterable[R]) -> None:
        for record in records:
            self._records.append(record)
            self._characters += sum(len(getattr(record, name) or "") for name in self._texts)
            if len(self._records) >= self._rows_per_group or self._characters >= CHARACTERS_PER_GROUP:
                self._flush()

    def _flush(self) -> None:
        if self._records:
            columns = [column_values(self._records, name) for name in self._schema.names]
            self._file.write_table(pa.Table.from_arrays(columns, schema=self._schema))
            self._records, self._characters = [], 0

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
    """Yield the records of a table in file order.

    Raises:
        InputError: the file is missing, not Parquet, damaged, or its columns are not the fields of the record.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such table", "check that biorel wrote this folder")
    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise _damaged(path, error) from error
    may_lack = {field.name for field in fields(kind) if "None" in str(field.type)}  # type: ignore[arg-type]
    with file:
        schema = _schema_of(path, file.schema_arrow.names, kind)
        # one row group at a time, because the writer bounded their size
        for group in range(file.num_row_groups):
            batches = file.iter_batches(batch_size=ROWS_PER_GROUP, row_groups=[group])
            while rows := _rows(path, batches, schema, may_lack):
                for row in rows:
                    yield from_row(kind, row)


def read_by_document(path: Path, kind: type[R]) -> dict[str, list[R]]:
    """A mapping from `doc_id` to the records of that document, in file order.

    Raises:
        InputError: see `read_table`.
    """
    grouped: dict[str, list[R]] = {}
    for record in read_table(path, kind):
        grouped.setdefault(getattr(record, "doc_id"), []).append(record)  # noqa: B009 - for the type checker
    return grouped


def _schema_of(path: Path, found: list[str], kind: type) -> pa.Schema:
    """The schema of an existing table. It may lack all columns whose fields have defaults."""
    schema = SCHEMAS[kind]
    former = FORMER_NAMES.get(kind, {})
    found = [former.get(name, name) for name in found]
    first = [field.name for field in fields(kind) if field.default is MISSING]
    if found != schema.names and found != first:
        raise InputError(
            f"{path}: found the columns {str(found)[:_SHOWN]} where {schema.names} were expected",
            "the table was written by another version of biorel; build it again",
        )
    return pa.schema([schema.field(name) for name in found])


def _rows(
    path: Path, batches: Iterator[pa.RecordBatch], schema: pa.Schema, may_lack: Collection[str]
) -> list[dict[str, Any]]:
    """The rows of the next non-empty batch, with the types of the schema; an empty list after the last batch."""
    try:
        batch = next((batch for batch in batches if batch.num_rows), None)
        if batch is None:
            return []
        # other programs use other types for strings and numbers
        table = pa.Table.from_batches([batch]).rename_columns(schema.names).cast(schema)
        lacking = [name for name in schema.names if name not in may_lack and table[name].null_count]
        rows: list[dict[str, Any]] = table.to_pylist()
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise _damaged(path, error) from error
    if lacking:
        raise InputError(
            f"{path}: some rows have no value for {', '.join(lacking)}", "write every value; a text may be empty"
        )
    return rows


def _damaged(path: Path, error: BaseException) -> InputError:
    reason = " ".join(str(error).split())[:_SHOWN]
    return InputError(f"{path}: not a Parquet file, or a damaged one ({reason})", "build or copy the table again")
