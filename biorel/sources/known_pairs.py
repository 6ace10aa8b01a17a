"""Known pairs of concepts: rows of head id, tab, tail id; what follows on a line is ignored."""

from __future__ import annotations

from pathlib import Path

from biorel.errors import InputError
from biorel.ledger import Ledger
from biorel.sources.files import read_lines
from biorel.sources.identifiers import concept_id


def read_known_pairs(path: Path, ledger: Ledger) -> frozenset[tuple[str, str]]:
    """(head, tail) of every row, ids in biorel's style; a first row of names and lines that begin with `#` are none.

    Raises:
        InputError: the file cannot be read, a row has no second column, or there is no row.
    """
    pairs = set()
    for number, line in read_lines(path, ledger):
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) < 2:
            raise InputError(
                f"{path}:{number}: one column where two ids were expected", "rows are: head id, a tab, tail id"
            )
        if number == 1 and not any(character.isdigit() for character in line):
            continue
        head, tail = (concept_id(field, "") for field in fields[:2])
        if head and tail:
            pairs.add((head, tail))
    if not pairs:
        raise InputError(f"{path}: no pair of ids", "rows are: head id, a tab, tail id")
    ledger.add("known pairs", count=len(pairs))
    return frozenset(pairs)
