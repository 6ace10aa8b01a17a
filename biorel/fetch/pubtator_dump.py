"""PubTator's bulk dump, cut down to the documents wanted in one pass.

The dump is one PubTator file, plain or gzip, of tens of gigabytes. It is read as bytes, a line at a time: memory holds
one line and the PMIDs wanted, however long the dump is.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.fetch.web_pages import page_title
from biorel.formats.files import byte_lines, open_bytes, read_head

_TITLE = re.compile(rb"(\d+)\|t\|")
_TOLD_EVERY = 2**30
_BUFFER = 2**17


@dataclass(frozen=True, slots=True)
class Filtered:
    """What a pass read and found.

    Attributes:
        bytes_read: of the unpacked dump.
        documents: that were read.
        kept: how many were written.
        missing: PMIDs that the dump does not hold, in the order asked for.
    """

    bytes_read: int
    documents: int
    kept: int
    missing: list[str]


def filter_dump(
    path: Path,
    wanted: Iterable[str],
    out: IO[bytes],
    counts: Counts,
    progress: Callable[[int, int], None] = lambda read, kept: None,
) -> Filtered:
    """Write the wanted documents of a dump to `out`, as they are, each once, each followed by a blank line.

    NUL bytes, which the dump holds now and then, become spaces so that offsets stay.

    Args:
        path: the dump.
        wanted: PMIDs.
        out: is written in the dump's order.
        counts: books documents, repeats and NUL bytes.
        progress: is told of bytes read and documents kept, about every gigabyte.

    Raises:
        InputError: the dump cannot be read, is cut short, or is no PubTator text.
    """
    _check_head(path)
    missing = {pmid.encode(): None for pmid in wanted}
    found: set[bytes] = set()
    keep = False
    bytes_read = documents = told = 0
    for line in _lines(path):
        bytes_read += len(line)
        # a title is told by its third field; most lines are rows, which have no bar so early
        if line.find(b"|t|", 0, 24) > 0 and (title := _TITLE.match(line)):
            documents += 1
            pmid = title[1]
            if keep:
                out.write(b"\n")
            if pmid in found:
                counts.add(Reason.DOCUMENT_REPEATED, pmid.decode())
            keep = pmid in missing
            if keep:
                del missing[pmid]
                found.add(pmid)
            if bytes_read - told >= _TOLD_EVERY:
                told = bytes_read
                progress(bytes_read, len(found))
        if keep and line.strip():
            out.write(_clean(line, counts))
    if keep:
        out.write(b"\n")
    counts.add(Reason.DUMP_DOCUMENTS_READ, count=documents)
    counts.add(Reason.DUMP_DOCUMENTS_FOUND, count=len(found))
    return Filtered(bytes_read, documents, len(found), [pmid.decode() for pmid in missing])


def _lines(path: Path) -> Iterator[bytes]:
    """The lines; apart from what is done with them, so that its errors are not taken for the dump's."""
    with open_bytes(path) as stream:
        # a large buffer makes the reading of gzip a third faster
        for _, line in byte_lines(io.BufferedReader(cast("io.RawIOBase", stream), _BUFFER), path):
            yield line


def _check_head(path: Path) -> None:
    head = read_head(path)
    if page_title(head):
        raise InputError(f"{path}: a {page_title(head)} instead of a dump", "download it by browser or with curl")
    if not _TITLE.match(head.replace(b"\0", b" ")):
        raise InputError(
            f"{path}: no PubTator text (it begins with {head[:40]!r})",
            "the dump with texts and offsets is needed, bioconcepts2pubtator_offsets.gz or its like",
        )


def _clean(line: bytes, counts: Counts) -> bytes:
    line = line.rstrip(b"\r\n")
    if b"\0" in line:
        counts.add(Reason.NUL_REPLACED, count=line.count(b"\0"))
        line = line.replace(b"\0", b" ")
    return line + b"\n"
