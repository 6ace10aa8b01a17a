"""Write relations as a Parquet table, in which the evidence of a relation is a list of structs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from biorel.records import Document, Mention, Relation
from biorel.tables import TableWriter


class ParquetWriter:
    """A context manager that writes relations to a Parquet table, one row group at a time."""

    def __init__(self, path: Path) -> None:
        self._table = TableWriter(path, Relation)

    def write(self, document: Document | None, mentions: Sequence[Mention], relations: Sequence[Relation]) -> None:
        """Add one row for each relation."""
        self._table.write(relations)

    def __enter__(self) -> Self:
        self._table.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._table.__exit__(kind, error, trace)
