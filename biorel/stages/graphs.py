"""What a command that reads a graph does with it: opened, held against a dataset's articles, told in words."""

from __future__ import annotations

from pathlib import Path

from biorel.errors import InputError
from biorel.records import Document, Pair, Triple
from biorel.sources.spo import TABLE
from biorel.tables import read_table


def read_triples(folder: Path) -> list[Triple]:
    """The triples of a graph folder.

    Raises:
        InputError: it is none.
    """
    if not (folder / TABLE).is_file():
        raise InputError(f"{folder}: no graph ({TABLE} is missing)", "make one with biorel build-graph")
    return list(read_table(folder / TABLE, Triple))


def articles_of(dataset: Path, split: str) -> set[str]:
    """The ids of all documents of a split, those over the token cap among them.

    Raises:
        InputError: the dataset is incomplete.
    """
    found = {document.doc_id for document in read_table(dataset / split / "documents.parquet", Document)}
    return found | {pair.doc_id for pair in read_table(dataset / split / "pairs.parquet", Pair)}


def refuse_shared(triples: list[Triple], graph: Path, articles: set[str], split: str) -> None:
    """Stop where knowledge was curated from the very articles that are evaluated on.

    Raises:
        InputError: naming how many articles are shared, and the first of them.
    """
    shared = sorted({pmid for triple in triples for pmid in triple.pmids} & articles)
    if shared:
        raise InputError(
            f"{graph} holds what was curated from {len(shared)} of the {len(articles)} {split} articles "
            f"({', '.join(shared[:3])}{', ...' if len(shared) > 3 else ''})",
            "build the graph without them: biorel build-graph --exclude-dataset DATASET or --exclude-pmids FILE",
        )
