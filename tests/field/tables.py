"""What a folder of biorel holds, in the few words that the tests of the field need."""

from __future__ import annotations

from pathlib import Path

from biorel.records import Document, Pair
from biorel.tables import read_table
from tests.command_runs import read_json


def doc_ids(folder: Path) -> list[str]:
    """The ids of documents.parquet, in its order."""
    return [document.doc_id for document in read_table(folder / "documents.parquet", Document)]


def missing(folder: Path) -> dict[str, str]:
    """missing.tsv: what could not be had, and why."""
    return dict(line.split("\t") for line in (folder / "missing.tsv").read_text().splitlines()[1:])


def counts(folder: Path) -> dict[str, int]:
    """The books of a folder."""
    found: dict[str, int] = read_json(folder / "manifest.json")["counts"]
    return found


def pairs(dataset: Path, split: str = "train") -> dict[tuple[str, str], Pair]:
    """The pairs of a split by their ids."""
    rows = read_table(dataset / split / "pairs.parquet", Pair)
    return {(pair.head_id, pair.tail_id): pair for pair in rows}
