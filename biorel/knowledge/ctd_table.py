"""Streams the rows of CTD's bulk files by the names of their columns. Files are csv or tsv, plain or gzip.

A file begins with comments; its column names are in the line after `# Fields:`. Every value is text: a chemical may be
named `NA`, and a gene `null`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.formats.files import read_head, read_lines

DOWNLOADS = "https://ctdbase.org/downloads/"
_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
# a cell can list more PubMed ids than fit into the csv module's default limit of 131,072 characters
_FIELD_SIZE = 2**31 - 1


@dataclass(frozen=True, slots=True)
class ConceptColumns:
    """The columns of one type of concept. They have the same names in all of CTD's files."""

    type: str
    id: str
    name: str


CHEMICAL = ConceptColumns("Chemical", "ChemicalID", "ChemicalName")
DISEASE = ConceptColumns("Disease", "DiseaseID", "DiseaseName")
GENE = ConceptColumns("Gene", "GeneID", "GeneSymbol")


def find_table(folder: Path, names: Sequence[str], counts: Counts) -> Path | None:
    """The CTD file in the folder with the first of these names; None if there is no such file.

    Args:
        folder: the folder of the downloads.
        names: possible names of the table without suffix, in order of preference.
        counts: counts other editions of the table, which are not read.
    """
    found = [path for name in names for suffix in _SUFFIXES if (path := folder / f"{name}{suffix}").is_file()]
    for path in found[1:]:
        counts.add(Reason.CTD_FILE_SUPERSEDED, path.name)
    return found[0] if found else None


def missing(folder: Path, names: Sequence[str]) -> InputError:
    """The error for a folder without the table."""
    looked_for = ", ".join(f"{name}{{{','.join(_SUFFIXES)}}}" for name in names)
    return InputError(f"{folder}: no CTD file; looked for {looked_for}", f"download it from {DOWNLOADS}")


def read_rows(path: Path, columns: Sequence[str], counts: Counts) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, values of these columns) for each data row.

    A row with too few or too many cells or with an unclosed quote is counted as malformed. CTD's values contain no line
    breaks, so each line is parsed separately.

    Raises:
        InputError: the file cannot be read, is a web page, or lacks a column.
    """
    if read_head(path).startswith(b"<"):
        raise InputError(
            f"{path}: this is a web page, not a CTD file",
            f"CTD sometimes sends a check for robots: download {path.name} with a browser from {DOWNLOADS}",
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
        # comments precede the rows; in a later line # may begin a name
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
            "check whether this is the right file; CTD writes the column names after '# Fields:'",
        )


def _cells(line: str, separator: str) -> list[str]:
    """The cells of one line. After an unclosed quote the rest of the line is one cell, so there are too few cells."""
    # in a tab-separated file a quote is an ordinary character
    if separator == "\t" or '"' not in line:
        return line.split(separator)
    try:
        return next(csv.reader([line]))
    except csv.Error:
        # a carriage return inside the line
        return []
