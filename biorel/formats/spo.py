"""Read and write `.spo` files, K-BERT's graph format: the names of subject, predicate and object, separated by tabs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.formats.files import read_lines
from biorel.records import Triple

TABLE, LINES = "triples.parquet", "triples.spo"
SOURCE = "spo"


def read_spo(path: Path, counts: Counts) -> Iterator[Triple]:
    """Yield the triples of a file. Empty lines are skipped.

    The format does not record articles. If biorel wrote the file together with a table of triples, the file is refused,
    because the articles in the table would be lost.

    Raises:
        InputError: the file cannot be read, a line does not have three fields, or the file belongs to a biorel graph.
    """
    if (path.parent / TABLE).is_file():
        raise InputError(
            f"{path}: the file has no articles; those of its graph are in {TABLE} in the same folder",
            f"use {path.parent} as --graph, or build the graph again from its sources",
        )
    for number, line in read_lines(path, counts):
        if not line.strip():
            continue
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) != 3 or not all(fields):
            filled = sum(map(bool, fields))
            raise InputError(
                f"{path}:{number}: {filled} field{'' if filled == 1 else 's'} instead of three",
                "each line should be: subject, tab, predicate, tab, object",
            )
        counts.add(Reason.ROWS_READ)
        counts.add(Reason.SPO_TRIPLES_KEPT)
        subject, predicate, object_ = fields
        yield Triple(subject, predicate, object_, "", "", SOURCE)


def write_spo(path: Path, triples: Iterable[Triple]) -> None:
    """Write the names of the triples, without repeated lines. Blanks within a name become single spaces."""
    lines = dict.fromkeys(
        "\t".join(" ".join(part.split()) for part in (triple.subject, triple.predicate, triple.object))
        for triple in triples
    )
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
