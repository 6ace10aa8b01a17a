"""Parquet: the table of relations in `schemas`, with the evidence as a list of structs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from biorel.records import Document, Mention, Relation
from biorel.tables import TableWriter


class ParquetWriter:
    """Writes relations as a Parquet table, a row group at a time. A context manager."""

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
