"""Reads each of NLM's MeSH files as a stream of entries.

- the tree as TSV, `Tree Number, Desc Ui, Term` (2017MeshTree.txt; UTF-8, or UTF-16 as some projects keep it)
- mtreesYYYY.bin, with `Name;Tree number` in each line and without ids (ISO-8859-1 or UTF-8)
- descYYYY.xml and suppYYYY.xml
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.formats.files import read_head, read_whole
from biorel.formats.identifiers import concept_id
from biorel.formats.xml_stream import read_elements

_LARGEST = 2**24  # bytes of a tree file, which is read at once; NLM's have about 5 million
_ROOTS = ("DescriptorRecordSet", "SupplementalRecordSet")
_IDS = {"DescriptorRecord": "DescriptorUI", "SupplementalRecord": "SupplementalRecordUI"}
_TERMS = "ConceptList/Concept/TermList/Term/String"
_TSV_COLUMNS = ("tree number", "desc ui", "term")
_MESH_ID = re.compile(r"MESH:[CD]\d{6,9}")
_MTREES_LINE = re.compile(r"[^;\t]+;[A-Z]\d{2}[.\d]*\s*")


class Entry(NamedTuple):
    """The content of one line or record; the id is empty if the file has no ids."""

    id: str
    name: str
    tree_numbers: tuple[str, ...]
    mapped_to: tuple[str, ...]


def read_entries(path: Path, counts: Counts) -> Iterator[Entry]:
    """Yield the entries of a MeSH file, plain or gzip; the content determines its kind.

    Raises:
        InputError: the file cannot be read or is of another kind.
    """
    head = read_head(path)
    if head.startswith(b"<"):
        yield from _xml_entries(path, counts)
        return
    lines = _decoded(path, read_whole(path, _LARGEST)).split("\n")
    first = next((line for line in lines if line.strip()), "")
    if [name.strip().lower() for name in first.split("\t")[: len(_TSV_COLUMNS)]] == list(_TSV_COLUMNS):
        yield from _tsv_entries(path, lines, counts)
    elif _MTREES_LINE.fullmatch(first):
        yield from _mtrees_entries(path, lines, counts)
    else:
        raise InputError(
            f"{path}: not a known MeSH file (it begins with {first[:40]!r})",
            "use descYYYY.xml, suppYYYY.xml, mtreesYYYY.bin, or TSV with Tree Number, Desc Ui, Term",
        )


def read_terms(paths: Sequence[Path], counts: Counts) -> Iterator[tuple[str, str]]:
    """Yield (id, term) for every name of a concept, including the preferred one. Only XML files have terms.

    Args:
        paths: MeSH files as for `mesh.read_mesh`.
        counts: counts the terms.

    Raises:
        InputError: a file cannot be read, or is XML of another kind.
    """
    for path in paths:
        if not read_head(path).startswith(b"<"):
            continue
        for record in read_elements(path, "MeSH", _ROOTS, tuple(_IDS)):
            id_ = concept_id(record.findtext(_IDS[record.tag]) or "", "")
            for element in record.iterfind(_TERMS) if id_ else ():
                term = (element.text or "").strip()
                if id_ and term:
                    counts.add(Reason.MESH_TERMS_READ)
                    yield id_, term


def _decoded(path: Path, content: bytes) -> str:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif content[1:2] == b"\0":
        encoding = "utf-16-le"
    elif content[:1] == b"\0":
        encoding = "utf-16-be"
    else:
        encoding = "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding != "utf-8-sig":
            raise InputError(f"{path}: not valid {encoding.upper()}", "fetch the file again") from error
        return content.decode("iso-8859-1")


def _tsv_entries(path: Path, lines: list[str], counts: Counts) -> Iterator[Entry]:
    header_seen = False
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if not header_seen:
            header_seen = True
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        counts.add(Reason.ROWS_READ)
        id_ = _mesh_id(cells[1]) if len(cells) >= len(_TSV_COLUMNS) else None
        if id_ is None:
            counts.add(Reason.ROW_MALFORMED, f"{path}:{number}")
        else:
            counts.add(Reason.ROWS_KEPT)
            yield Entry(id_, cells[2], (cells[0],), ())


def _mtrees_entries(path: Path, lines: list[str], counts: Counts) -> Iterator[Entry]:
    for number, line in enumerate(lines, start=1):
        name, semicolon, place = line.strip().rpartition(";")
        if not line.strip():
            continue
        counts.add(Reason.ROWS_READ)
        if semicolon and name:
            counts.add(Reason.ROWS_KEPT)
            yield Entry("", name, (place,), ())
        else:
            counts.add(Reason.ROW_MALFORMED, f"{path}:{number}")


def _xml_entries(path: Path, counts: Counts) -> Iterator[Entry]:
    for record in read_elements(path, "MeSH", _ROOTS, tuple(_IDS)):
        entry = _descriptor(record) if record.tag == "DescriptorRecord" else _supplementary(record)
        counts.add(Reason.MESH_RECORDS_READ)
        if entry is None:
            counts.add(Reason.MESH_RECORD_MALFORMED, str(path))
        else:
            counts.add(Reason.MESH_RECORDS_KEPT)
            yield entry


def _descriptor(record: Any) -> Entry | None:
    id_ = _mesh_id(record.findtext("DescriptorUI") or "")
    places = tuple((item.text or "").strip() for item in record.iterfind("TreeNumberList/TreeNumber"))
    name = (record.findtext("DescriptorName/String") or "").strip()
    return Entry(id_, name, places, ()) if id_ else None


def _supplementary(record: Any) -> Entry | None:
    """A supplementary concept. The ids of the descriptors may be written with a star and a qualifier."""
    id_ = _mesh_id(record.findtext("SupplementalRecordUI") or "")
    name = (record.findtext("SupplementalRecordName/String") or "").strip()
    targets = []
    for heading in record.iterfind("HeadingMappedToList/HeadingMappedTo"):
        raw = heading.findtext("DescriptorReferredTo/DescriptorUI") or heading.text or ""
        targets.append(_mesh_id(raw.partition("/")[0]))
    return Entry(id_, name, (), tuple(target for target in targets if target)) if id_ else None


def _mesh_id(raw: str) -> str | None:
    id_ = concept_id(raw, "")
    return id_ if id_ and _MESH_ID.fullmatch(id_) else None
