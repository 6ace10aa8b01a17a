"""Known pairs of concepts: rows of head id, tab, tail id, and where there is a third column the articles that say so.

Articles are PubMed ids joined with `|`, as in a table of CTD; what follows on a line is ignored.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.formats.files import HALF_OF_PAIR, read_lines
from biorel.formats.identifiers import concept_id

_FORM = "rows are: head id, a tab, tail id, and perhaps a tab and the PubMed ids, joined with |"


def read_known_pairs(path: Path, counts: Counts, excluded: Collection[str] = ()) -> frozenset[tuple[str, str]]:
    """(head, tail) of every row, ids in biorel's style; a first row of names and lines that begin with `#` are none.

    Args:
        excluded: PubMed ids; a row that has no other articles than these is left out. One without articles stays.

    Raises:
        InputError: the file cannot be read, a row has no second column, or there is no row.
    """
    pairs, rows, left_out = set(), 0, frozenset(excluded)
    for number, line in read_lines(path, counts):
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) < 2:
            raise InputError(f"{path}:{number}: one column where two ids were expected", _FORM)
        if number == 1 and not any(character.isdigit() for character in line):
            continue
        head, tail = (concept_id(field, "") for field in fields[:2])
        if not head or not tail or HALF_OF_PAIR.search(head + tail):
            counts.add(Reason.KNOWN_PAIR_WITHOUT_TWO_IDS, f"{path}:{number}")
            continue
        rows += 1
        articles = {article.strip() for article in fields[2].split("|")} - {""} if len(fields) > 2 else set()
        if articles and articles <= left_out:
            counts.add(Reason.KNOWN_PAIR_OF_EXCLUDED_ARTICLES, f"{path}:{number}")
            continue
        pairs.add((head, tail))
    if not rows:
        raise InputError(f"{path}: no pair of ids", _FORM)
    counts.add(Reason.KNOWN_PAIRS_READ, count=len(pairs))
    return frozenset(pairs)
