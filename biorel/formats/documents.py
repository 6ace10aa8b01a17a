"""Which reader for which file: by the file's name where that tells, by its first bytes else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.formats.bioc import read_bioc
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
# a folder that tag or fetch wrote stands for its table of documents
DOCUMENTS, MENTIONS = "documents.parquet", "mentions.parquet"
BAD_TOLD = 3  # bad records of an input that people are told; all are in the books
_JSON_SUFFIXES = {".jsonl": JSONL, ".ndjson": JSONL, ".json": BIOC}
_PUBMED_ROOT = re.compile(rb"<(?:PubmedArticleSet|MedlineCitationSet)\b")
# the keys that BioC JSON has and a record of JSON lines has not; inside a text the quotes would be escaped
_BIOC_KEY = re.compile(rb'"(?:passages|documents|PubTator3)"\s*:')


def _unnumbered(read: Callable[[Path, Counts], Iterator[Annotated]]) -> Callable[[Path, Counts], Records]:
    def records(path: Path, counts: Counts) -> Records:
        for annotated in read(path, counts):
            yield 0, annotated

    return records


def _read_table(path: Path, counts: Counts) -> Iterator[Annotated]:
    """The documents of a table, with the mentions of the table beside it where there is one (`biorel tag`)."""
    beside = path.with_name(MENTIONS)
    mentions = read_by_document(beside, Mention) if beside.is_file() else {}
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
        counts.add(Reason.ANNOTATION_WITHOUT_DOCUMENT, f"{beside} {doc_id}", len(rows))


def _read_citations(path: Path, counts: Counts) -> Iterator[Annotated]:
    """The citations of PubMed XML that have a text; what an update file takes back is passed over."""
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
    """The format of a file, a key of `READERS`.

    `.xml` is PubMed's where its root element says so, else BioC; a Parquet table is told by its first bytes.
    `.jsonl`, `.ndjson` and `.json` are what their first bytes show, as each is used for BioC documents and for
    records, and what their names say where the bytes leave it open. Any other file is told by its first character
    that is not blank: `<` or `{` or `[`, else PubTator.

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
    """Yield (line number, record) of a file in any format that biorel reads; 0 where the line is not known.

    A record that is no document is a `BadRecord`, for the caller to tell or to stop at.

    Raises:
        InputError: the file cannot be read, or is not in the format that it seems to be in.
    """
    if (path / DOCUMENTS).is_file():
        path = path / DOCUMENTS
    yield from READERS[format_of(path)](path, counts)


def read_documents(paths: Iterable[Path], counts: Counts, bad_places: list[str] | None = None) -> Iterator[Annotated]:
    """Yield the documents of several files in the order given; of documents with the same id, the first.

    Args:
        paths: files in any format of `READERS`.
        counts: receives the documents read, kept and excluded.
        bad_places: where given, records that are not documents are skipped, and the first few are described here.

    Raises:
        InputError: a file cannot be read, or without `bad_places`, a record is not a document.
    """
    seen: set[int | str] = set()
    for path in paths:
        for line, record in read_records(path, counts):
            if isinstance(record, BadRecord):
                fault = f"{path}:{line}: {record.reason}" if line else f"{path}: {record.reason}"
                if bad_places is None:
                    raise InputError(fault, "correct or remove the record")
                if len(bad_places) < BAD_TOLD:
                    bad_places.append(fault)
                continue
            key = document_key(record.document.doc_id)
            if key in seen:
                counts.add(Reason.DOCUMENT_REPEATED, f"{path} {record.document.doc_id}")
                continue
            seen.add(key)
            counts.add(Reason.DOCUMENTS_KEPT)
            yield record
