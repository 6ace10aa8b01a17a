"""JSON lines: one relation a line, as an object with its evidence. UTF-8, strict JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from biorel.records import Document, Mention, Relation
from biorel.schemas import to_row

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
