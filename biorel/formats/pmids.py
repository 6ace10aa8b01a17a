"""Read lists of PMIDs to fetch, and write lists of PMIDs, including a list of those that could not be fetched."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.formats.files import read_lines
from biorel.formats.pubmed import pmid_of
from biorel.formats.spreadsheet_cells import guarded, unguarded

NO_PMID = "not a PMID"
_PREFIX = re.compile(r"^PMID\s*:?\s*", re.IGNORECASE)


def read_pmids(paths: Sequence[Path], counts: Counts) -> tuple[list[str], dict[str, str]]:
    """The distinct PMIDs of the files in order, and a dict from each other entry to the reason why it is not used.

    Each line holds one PMID, with or without `PMID:` before it. Further tab-separated columns are ignored, and so are
    lines that begin with `#`.

    Raises:
        InputError: a file cannot be read, or no file holds a PMID.
    """
    pmids: dict[str, None] = {}
    bad: dict[str, str] = {}
    for path in paths:
        for number, line in read_lines(path, counts):
            word = unguarded(line.partition("\t")[0].strip())
            if not word or word.startswith("#"):
                continue
            counts.add(Reason.ROWS_READ)
            pmid = pmid_of(_PREFIX.sub("", word))
            if pmid is None:
                bad[word] = NO_PMID
                counts.add(Reason.PMID_MALFORMED, f"{path}:{number}")
            elif pmid in pmids:
                counts.add(Reason.PMID_REPEATED, f"{path}:{number}")
            else:
                pmids[pmid] = None
                counts.add(Reason.ROWS_KEPT)
    if not pmids:
        raise InputError(f"{', '.join(map(str, paths))}: no PMID was found", "each line should hold one PMID")
    return list(pmids), bad


def write_pmids(path: Path, pmids: Iterable[str]) -> None:
    """Write one PMID per line."""
    path.write_text("".join(f"{pmid}\n" for pmid in pmids), encoding="utf-8")


def write_missing(path: Path, reasons: Mapping[str, str]) -> None:
    """Write the PMIDs that could not be fetched, with the reasons. `read_pmids` accepts this file."""
    rows = (f"{guarded(pmid)}\t{guarded(' '.join(reason.split()))}\n" for pmid, reason in reasons.items())
    path.write_text("".join(["# pmid\treason\n", *rows]), encoding="utf-8")
