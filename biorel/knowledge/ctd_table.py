"""CTD's bulk files as rows of named columns: csv or tsv, plain or gzip, read as a stream.

A file begins with remarks; its column names stand in the line after `# Fields:`. Every value is text: a
chemical may be called NA and a gene null.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.formats.files import read_head, read_lines

DOWNLOADS = "https://ctdbase.org/downloads/"
_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
# an evidence cell can list more PubMed ids than the csv module's limit of 131,072 characters lets through
_FIELD_SIZE = 2**31 - 1


def find_table(folder: Path, names: Sequence[str], counts: Counts) -> Path | None:
    """The CTD file in the folder that has the first of these names; None where there is none.

    Args:
        folder: where the downloads lie.
        names: of the table without suffix, the preferred one first.
        counts: books the files that give way to the one that is taken.
    """
    found = [path for name in names for suffix in _SUFFIXES if (path := folder / f"{name}{suffix}").is_file()]
    for path in found[1:]:
        counts.add(Reason.CTD_FILE_SUPERSEDED, path.name)
    return found[0] if found else None


def missing(folder: Path, names: Sequence[str]) -> InputError:
    """The error for a folder that lacks a table."""
    looked_for = ", ".join(f"{name}{{{','.join(_SUFFIXES)}}}" for name in names)
    return InputError(f"{folder}: no CTD file; looked for {looked_for}", f"download it from {DOWNLOADS}")


def read_rows(path: Path, columns: Sequence[str], counts: Counts) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, values of these columns) for each data row.

    A row with too few or too many cells, or a quote that is not closed, is booked as malformed; no row
    swallows the next, as none of CTD's values holds a line break.

    Raises:
        InputError: the file cannot be read, is a web page, or does not have the columns.
    """
    if read_head(path).startswith(b"<"):
        raise InputError(
            f"{path}: a web page where a CTD file was expected",
            f"CTD sends a check for robots at times: download {path.name} by browser from {DOWNLOADS}",
        )
    separator = "," if ".csv" in path.suffixes else "\t"
    at: list[int] = []
    last = width = rows = 0
    csv.field_size_limit(_FIELD_SIZE)
    for number, line in read_lines(path, counts):
        if not at:
            header = [name.strip().lower() for name in line.lstrip("# ").split(separator)]
            if all(name.lower() in header for name in columns):
                at, width = [header.index(name.lower()) for name in columns], len(header)
                last = max(at)
            elif line.strip() and not line.startswith("#"):
                break
            continue
        # remarks stand above the rows; further down a name may begin with the sign
        if not line.strip() or (not rows and line.startswith("#")):
            continue
        rows += 1
        counts.add(Reason.CTD_ROWS_READ)
        cells = _cells(line, separator)
        if not last < len(cells) <= width:
            counts.add(Reason.ROW_MALFORMED, f"{path}:{number}")
            continue
        yield number, [cells[index].strip() for index in at]
    if not at:
        raise InputError(
            f"{path}: no line with the column names {', '.join(columns)}",
            "CTD writes them after '# Fields:'; is this the right file?",
        )


def _cells(line: str, separator: str) -> list[str]:
    """The cells of one line; a quote that is not closed swallows the rest of it, so there are too few then."""
    # a quote in a tab-separated file is a character like another
    if separator == "\t" or '"' not in line:
        return line.split(separator)
    try:
        return next(csv.reader([line]))
    except csv.Error:
        # a carriage return inside the line
        return []
