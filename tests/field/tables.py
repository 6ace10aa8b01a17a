"""Reads the output folders of biorel."""

from __future__ import annotations

from pathlib import Path

from biorel.records import Document, Pair
from biorel.tables import read_table
from tests.command_runs import read_json


def doc_ids(folder: Path) -> list[str]:
    """The ids in documents.parquet, in file order."""
    return [document.doc_id for document in read_table(folder / "documents.parquet", Document)]


def missing(folder: Path) -> dict[str, str]:
    """The rows of missing.tsv: reasons by document id."""
    return dict(line.split("\t") for line in (folder / "missing.tsv").read_text().splitlines()[1:])


def counts(folder: Path) -> dict[str, int]:
    """The counts in the manifest of a folder."""
    found: dict[str, int] = read_json(folder / "manifest.json")["counts"]
    return found


def pairs(dataset: Path, split: str = "train") -> dict[tuple[str, str], Pair]:
    """The pairs of a split by head and tail id."""
    rows = read_table(dataset / split / "pairs.parquet", Pair)
    return {(pair.head_id, pair.tail_id): pair for pair in rows}
