"""Write the triples of a corpus as a Parquet table, or as TSV for spreadsheets, R and pandas."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from pathlib import Path

from biorel.errors import ConfigError
from biorel.formats.tsv import EVIDENCE, cell, evidence_cells, score_cell
from biorel.records import CorpusTriple
from biorel.tables import write_table

COLUMNS = (
    *("head_id", "head_type", "head_name", "relation", "tail_id", "tail_type", "tail_name", "score", "support"),
    *("documents", "best_document", "best_score", *EVIDENCE, "sentence"),
)


def write_tsv(path: Path, triples: Iterable[CorpusTriple]) -> None:
    """Write one row for each triple. Document ids are joined with `|`; spans in the best document are `start-end`."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream, dialect="excel-tab", lineterminator="\n")
        rows.writerow(COLUMNS)
        rows.writerows(map(_row, triples))


def _row(triple: CorpusTriple) -> list[str]:
    """The cells of one row, in the order of `COLUMNS`."""
    head, tail = triple.head, triple.tail
    return [
        *map(cell, (head.id, head.type, head.name, triple.relation, tail.id, tail.type, tail.name)),
        score_cell(triple.score),
        str(triple.support),
        cell("|".join(triple.documents)),
        cell(triple.best_document),
        score_cell(triple.best_score),
        *evidence_cells(triple.evidence),
        cell(triple.sentence),
    ]


def _write_parquet(path: Path, triples: Iterable[CorpusTriple]) -> None:
    write_table(path, CorpusTriple, triples)


WRITERS: dict[str, Callable[[Path, Iterable[CorpusTriple]], None]] = {"parquet": _write_parquet, "tsv": write_tsv}


def triples_format(path: Path, chosen: str) -> str:
    """The chosen format, or the format that has the path's suffix if `chosen` is `auto`. Formats are keys of `WRITERS`.

    Raises:
        ConfigError: no format has this suffix.
    """
    found = path.suffix.lower().removeprefix(".") if chosen == "auto" else chosen
    if found not in WRITERS:
        raise ConfigError(f"{path}: unknown output format {path.suffix!r}", f"use one of .{', .'.join(WRITERS)}")
    return found
