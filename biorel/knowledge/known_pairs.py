"""Reads known pairs of concepts: tab-separated rows of head id, tail id and, optionally, the articles of the pair.

Articles are PubMed ids joined with `|`, as in CTD's tables. Further columns are ignored.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.formats.files import HALF_OF_PAIR, read_lines
from biorel.formats.identifiers import concept_id

_FORM = "each row should be: head id, tab, tail id, and optionally a tab and PubMed ids joined with |"


def read_known_pairs(path: Path, counts: Counts, excluded: Collection[str] = ()) -> frozenset[tuple[str, str]]:
    """Read the (head, tail) pairs, with ids in biorel's style. A header and lines that begin with `#` are skipped.

    Args:
        excluded: PubMed ids. A row is left out if all of its articles are excluded; a row without articles is kept.

    Raises:
        InputError: the file cannot be read, a row has no second column, or the file has no rows.
    """
    pairs, rows, left_out = set(), 0, frozenset(excluded)
    for number, line in read_lines(path, counts):
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) < 2:
            raise InputError(f"{path}:{number}: the row has one column instead of two ids", _FORM)
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
        raise InputError(f"{path}: there is no pair of ids", _FORM)
    counts.add(Reason.KNOWN_PAIRS_READ, count=len(pairs))
    return frozenset(pairs)
