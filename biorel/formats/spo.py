"""`.spo` files, K-BERT's layout of a graph: subject, predicate and object by name, a tab between, one triple a line."""

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
    """Yield the triples of a file; empty lines are passed over.

    Such a file tells no articles. One that biorel wrote beside its table is therefore refused, as its articles would
    be forgotten.

    Raises:
        InputError: the file cannot be read, a line has not three filled fields, or it is half of a biorel graph.
    """
    if (path.parent / TABLE).is_file():
        raise InputError(
            f"{path}: the names of a graph whose articles stand in {TABLE} beside it",
            f"use {path.parent} itself as --graph, or build it anew from what it was built from",
        )
    for number, line in read_lines(path, counts):
        if not line.strip():
            continue
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) != 3 or not all(fields):
            filled = sum(map(bool, fields))
            raise InputError(
                f"{path}:{number}: {filled} field{'' if filled == 1 else 's'} where a triple has three",
                "a line is: subject, a tab, predicate, a tab, object",
            )
        counts.add(Reason.ROWS_READ)
        counts.add(Reason.SPO_TRIPLES_KEPT)
        subject, predicate, object_ = fields
        yield Triple(subject, predicate, object_, "", "", SOURCE)


def write_spo(path: Path, triples: Iterable[Triple]) -> None:
    """Write the names of the triples, each line once; blanks within a name become single spaces."""
    lines = dict.fromkeys(
        "\t".join(" ".join(part.split()) for part in (triple.subject, triple.predicate, triple.object))
        for triple in triples
    )
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
