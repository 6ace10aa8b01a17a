"""Triples of a corpus into files: a Parquet table, or TSV for spreadsheets, R and pandas."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from pathlib import Path

from biorel.answers import Triple
from biorel.errors import ConfigError
from biorel.exports.tsv import cell
from biorel.tables import write_table

COLUMNS = (
    *("head_id", "head_type", "head_name", "relation", "tail_id", "tail_type", "tail_name", "score", "support"),
    *("documents", "best_document", "best_score", "evidence_head", "evidence_tail", "evidence_sentence", "sentence"),
)
_DIGITS = 6


def write_tsv(path: Path, triples: Iterable[Triple]) -> None:
    """One row for each triple; documents are joined with `|`, spans are `start-end` in the best document."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream, dialect="excel-tab", lineterminator="\n")
        rows.writerow(COLUMNS)
        rows.writerows(map(_row, triples))


def _row(triple: Triple) -> list[str]:
    """The cells of one row, in the order of `COLUMNS`."""
    head, tail, evidence = triple.head, triple.tail, triple.evidence
    spans = (evidence.head, evidence.tail, evidence.sentence) if evidence else ()
    return [
        *map(cell, (head.id, head.type, head.name, triple.relation, tail.id, tail.type, tail.name)),
        str(round(triple.score, _DIGITS)),
        str(triple.support),
        cell("|".join(triple.documents)),
        cell(triple.best_document),
        str(round(triple.best_score, _DIGITS)),
        *([f"{start}-{end}" for start, end in spans] or [""] * 3),
        cell(triple.sentence),
    ]


def _write_parquet(path: Path, triples: Iterable[Triple]) -> None:
    write_table(path, Triple, triples)


WRITERS: dict[str, Callable[[Path, Iterable[Triple]], None]] = {"parquet": _write_parquet, "tsv": write_tsv}


def triples_format(path: Path, chosen: str) -> str:
    """The format to write, a key of `WRITERS`: the one chosen, or for `auto` the one of the path's suffix.

    Raises:
        ConfigError: the suffix is none of these.
    """
    found = path.suffix.lower().removeprefix(".") if chosen == "auto" else chosen
    if found not in WRITERS:
        raise ConfigError(
            f"{path}: the suffix {path.suffix!r} tells no format", f"end the name in .{', .'.join(WRITERS)}"
        )
    return found
