"""Write relations as TSV with a header and one row per relation, for spreadsheets, R and pandas.

The three evidence columns hold spans of the strongest mention pair, as `start-end` in characters of the text (title,
one space, abstract). These columns are empty for a relation without evidence. Line breaks and tabs in a name become
spaces. An apostrophe is put before a cell that a spreadsheet would take for a formula (beginning with `=`, `+`, `-` or
`@`); `spreadsheet_cells.unguarded` removes the apostrophe. A cell that contains double quotes is quoted, and the double
quotes in the cell are doubled.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from biorel.formats.spreadsheet_cells import guarded
from biorel.records import Document, Evidence, Mention, Relation

EVIDENCE = ("evidence_head", "evidence_tail", "evidence_sentence")
COLUMNS = (
    "doc_id",
    "head_id",
    "head_type",
    "head_name",
    "relation",
    "tail_id",
    "tail_type",
    "tail_name",
    "score",
    *EVIDENCE,
)
_BREAKS = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
_DIGITS = 6


class TsvWriter:
    """A context manager that writes relations as rows of a TSV file."""

    def __init__(self, path: Path) -> None:
        self._stream = path.open("w", encoding="utf-8", newline="")
        self._rows = csv.writer(self._stream, dialect="excel-tab", lineterminator="\n")
        self._rows.writerow(COLUMNS)

    def write(self, document: Document | None, mentions: Sequence[Mention], relations: Sequence[Relation]) -> None:
        """Write one row for each relation."""
        self._rows.writerows(_row(relation) for relation in relations)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()


def _row(relation: Relation) -> list[str]:
    """The cells of one row, in the order of `COLUMNS`."""
    head, tail = relation.head, relation.tail
    texts = (relation.doc_id, head.id, head.type, head.name, relation.relation, tail.id, tail.type, tail.name)
    return [*map(cell, texts), score_cell(relation.score), *evidence_cells(relation.strongest)]


def cell(text: str) -> str:
    """The text on one line, guarded against being read as a formula."""
    return guarded(_BREAKS.sub(" ", text))


def score_cell(score: float) -> str:
    """The score as text, with its significant digits."""
    return str(round(score, _DIGITS))


def evidence_cells(evidence: Evidence | None) -> list[str]:
    """The cells of the columns `EVIDENCE`, each `start-end`. The cells are empty if there is no evidence."""
    spans = (evidence.head, evidence.tail, evidence.sentence) if evidence else ()
    return [f"{start}-{end}" for start, end in spans] or [""] * len(EVIDENCE)
