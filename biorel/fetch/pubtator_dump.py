"""Selects documents of PubTator's bulk dump in one pass.

The dump is one PubTator file of tens of gigabytes, plain or gzip. It is read as bytes, line by line, so
memory holds only one line and the selected PMIDs.
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
from biorel.fetch.http import page_title
from biorel.formats.files import byte_lines, open_bytes, read_head

_TITLE = re.compile(rb"(\d+)\|t\|")
_REPORT_BYTES = 2**30
_BUFFER = 2**17


@dataclass(frozen=True, slots=True)
class FilteredDump:
    """The result of one pass.

    Attributes:
        bytes_read: number of bytes of the decompressed dump.
        documents: number of documents in the dump.
        kept: number of documents that were written.
        missing: selected PMIDs that are not in the dump, in their order.
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
) -> FilteredDump:
    """Write the selected documents of a dump to `out`, each once, in the order of the dump, with a blank line after it.

    NUL bytes, which the dump contains occasionally, become spaces so that offsets stay valid.

    Args:
        path: the dump.
        wanted: PMIDs of the documents to write.
        out: receives the documents.
        counts: counts documents, repeated documents and NUL bytes.
        progress: receives the bytes read and the documents kept, about once a gigabyte.

    Raises:
        InputError: the dump cannot be read, is truncated, or is not PubTator text.
    """
    _check_head(path)
    missing = {pmid.encode(): None for pmid in wanted}
    found: set[bytes] = set()
    keep = False
    bytes_read = documents = reported = 0
    for line in _lines(path):
        bytes_read += len(line)
        # a cheap test first: most lines are rows of mentions, which have no bar so early
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
            if bytes_read - reported >= _REPORT_BYTES:
                reported = bytes_read
                progress(bytes_read, len(found))
        if keep and line.strip():
            out.write(_clean(line, counts))
    if keep:
        out.write(b"\n")
    counts.add(Reason.DUMP_DOCUMENTS_READ, count=documents)
    counts.add(Reason.DUMP_DOCUMENTS_FOUND, count=len(found))
    return FilteredDump(bytes_read, documents, len(found), [pmid.decode() for pmid in missing])


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of the dump. A separate generator, so that errors in writing are not reported as errors of the dump."""
    with open_bytes(path) as stream:
        # a large buffer speeds up reading gzip by a third
        for _, line in byte_lines(io.BufferedReader(cast("io.RawIOBase", stream), _BUFFER), path):
            yield line


def _check_head(path: Path) -> None:
    head = read_head(path)
    if page_title(head):
        raise InputError(
            f"{path}: this is a {page_title(head)}, not a dump", "download the dump with a browser or curl"
        )
    if not _TITLE.match(head.replace(b"\0", b" ")):
        raise InputError(
            f"{path}: not PubTator text (it begins with {head[:40]!r})",
            "use the dump with texts and offsets, such as bioconcepts2pubtator_offsets.gz",
        )


def _clean(line: bytes, counts: Counts) -> bytes:
    line = line.rstrip(b"\r\n")
    if b"\0" in line:
        counts.add(Reason.NUL_REPLACED, count=line.count(b"\0"))
        line = line.replace(b"\0", b" ")
    return line + b"\n"
