"""Detect the format of an input file from its name and first bytes, and read the documents in the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.formats.bioc.reader import read_bioc
from biorel.formats.files import read_head
from biorel.formats.identifiers import document_key
from biorel.formats.jsonl import read_jsonl
from biorel.formats.pubmed import Deletion, read_pubmed
from biorel.formats.pubtator import read_pubtator
from biorel.formats.spans import check_spans, without_repeats
from biorel.records import Annotated, BadRecord, Document, Mention
from biorel.tables import read_by_document, read_table

Records = Iterator[tuple[int, Annotated | BadRecord]]

JSONL, BIOC, PUBTATOR, PUBMED, PARQUET = "jsonl", "bioc", "pubtator", "pubmed", "parquet"
_PARQUET_MAGIC = b"PAR1"
# a folder written by tag or fetch is read as its table of documents
DOCUMENTS, MENTIONS = "documents.parquet", "mentions.parquet"
BAD_SHOWN = 3  # bad records described on the console; all are counted
_JSON_SUFFIXES = {".jsonl": JSONL, ".ndjson": JSONL, ".json": BIOC}
_PUBMED_ROOT = re.compile(rb"<(?:PubmedArticleSet|MedlineCitationSet)\b")
# keys of BioC JSON that a JSONL record does not have; inside a text the quotes would be escaped
_BIOC_KEY = re.compile(rb'"(?:passages|documents|PubTator3)"\s*:')


def _unnumbered(read: Callable[[Path, Counts], Iterator[Annotated]]) -> Callable[[Path, Counts], Records]:
    def records(path: Path, counts: Counts) -> Records:
        for annotated in read(path, counts):
            yield 0, annotated

    return records


def _read_table(path: Path, counts: Counts) -> Iterator[Annotated]:
    """Yield the documents of a table, with the mentions that `biorel tag` writes to a table in the same folder."""
    mention_table = path.with_name(MENTIONS)
    mentions = read_by_document(mention_table, Mention) if mention_table.is_file() else {}
    for document in read_table(path, Document):
        counts.add(Reason.RECORDS_READ)
        counts.add(Reason.DOCUMENTS_READ)
        place = f"{path} {document.doc_id}"
        rows = mentions.pop(document.doc_id, [])
        counts.add(Reason.ANNOTATIONS_READ, count=len(rows))
        checked = check_spans(document, rows, counts, place)
        yield Annotated(document, without_repeats(checked, counts, place))
    for doc_id, rows in mentions.items():
        counts.add(Reason.ANNOTATIONS_READ, count=len(rows))
        counts.add(Reason.ANNOTATION_WITHOUT_DOCUMENT, f"{mention_table} {doc_id}", len(rows))


def _read_citations(path: Path, counts: Counts) -> Iterator[Annotated]:
    """The PubMed citations that have a text. Deletions in update files are skipped."""
    for record in read_pubmed(path, counts):
        counts.add(Reason.RECORDS_READ)
        if isinstance(record, Deletion):
            counts.add(Reason.RECORD_DELETION, record.doc_id)
        elif not record.document.text.strip():
            counts.add(Reason.RECORD_WITHOUT_TEXT, record.document.doc_id)
        else:
            counts.add(Reason.DOCUMENTS_READ)
            yield Annotated(record.document)


READERS: dict[str, Callable[[Path, Counts], Records]] = {
    JSONL: read_jsonl,
    BIOC: _unnumbered(read_bioc),
    PUBTATOR: _unnumbered(read_pubtator),
    PUBMED: _unnumbered(_read_citations),
    PARQUET: _unnumbered(_read_table),
}


def format_of(path: Path) -> str:
    """Detect the format of a file; returns a key of `READERS`.

    A Parquet table is recognised by its first bytes. An `.xml` file is PubMed XML if it has the root element of PubMed,
    otherwise BioC. Files named `.jsonl`, `.ndjson` or `.json` hold either BioC documents or records: the first bytes
    decide, and the suffix only where the first bytes do not. For any other file the first non-blank character decides:
    `<` means XML, `{` or `[` JSON, and any other character PubTator.

    Raises:
        InputError: the file cannot be read.
    """
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    suffix = suffixes[-1] if suffixes else ""
    head = read_head(path)
    if suffix == ".xml":
        return _xml_format(head)
    if head.startswith(_PARQUET_MAGIC):
        return PARQUET
    named = _JSON_SUFFIXES.get(suffix, "")
    if head.startswith(b"<") and named != JSONL:
        return _xml_format(head)
    if named or head.startswith((b"{", b"[")):
        return _json_format(head, named)
    return PUBTATOR


def _xml_format(head: bytes) -> str:
    return PUBMED if _PUBMED_ROOT.search(head) else BIOC


def _json_format(head: bytes, named: str) -> str:
    if _BIOC_KEY.search(head):
        return BIOC
    first_line = head.partition(b"\n")[0].rstrip()
    whole = first_line.startswith(b"{") and first_line.endswith(b"}")
    return JSONL if named == JSONL or whole else BIOC


def read_records(path: Path, counts: Counts) -> Records:
    """Yield (line number, record) for each record of a file in any format; the number is 0 if the line is unknown.

    A record that cannot be used is yielded as a `BadRecord`; the caller reports it or stops.

    Raises:
        InputError: the file cannot be read, or does not follow the format that was detected.
    """
    if (path / DOCUMENTS).is_file():
        path = path / DOCUMENTS
    yield from READERS[format_of(path)](path, counts)


def read_documents(paths: Iterable[Path], counts: Counts, bad_places: list[str] | None = None) -> Iterator[Annotated]:
    """Yield the documents of several files in order. If several documents have the same id, only the first is yielded.

    Args:
        paths: files in any format of `READERS`.
        counts: receives the documents read, kept and excluded.
        bad_places: if given, records that are not documents are skipped, and the first few are described in this list.

    Raises:
        InputError: a file cannot be read, or a record is not a document and `bad_places` is not given.
    """
    seen: set[int | str] = set()
    for path in paths:
        for line, record in read_records(path, counts):
            if isinstance(record, BadRecord):
                fault = f"{path}:{line}: {record.reason}" if line else f"{path}: {record.reason}"
                if bad_places is None:
                    raise InputError(fault, "correct or remove the record")
                if len(bad_places) < BAD_SHOWN:
                    bad_places.append(fault)
                continue
            key = document_key(record.document.doc_id)
            if key in seen:
                counts.add(Reason.DOCUMENT_REPEATED, f"{path} {record.document.doc_id}")
                continue
            seen.add(key)
            counts.add(Reason.DOCUMENTS_KEPT)
            yield record
