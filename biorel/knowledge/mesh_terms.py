"""The entry terms of MeSH: all names of a concept, from descYYYY.xml and suppYYYY.xml, as a stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from biorel.counts import Counts, Reason
from biorel.formats.files import read_head
from biorel.formats.identifiers import concept_id
from biorel.formats.xml_stream import read_elements

_IDS = {"DescriptorRecord": "DescriptorUI", "SupplementalRecord": "SupplementalRecordUI"}
_TERMS = "ConceptList/Concept/TermList/Term/String"


def read_terms(paths: Sequence[Path], counts: Counts) -> Iterator[tuple[str, str]]:
    """Yield (id, term) of every term, preferred names among them. Files that are not XML have no terms.

    Args:
        paths: MeSH files of any kind that `mesh.read_mesh` reads, plain or gzip.
        counts: books the terms.

    Raises:
        InputError: a file cannot be read, or is XML and not MeSH's.
    """
    for path in paths:
        if not read_head(path).startswith(b"<"):
            continue
        roots = ("DescriptorRecordSet", "SupplementalRecordSet")
        for record in read_elements(path, "MeSH", roots, tuple(_IDS)):
            id_ = concept_id(record.findtext(_IDS[record.tag]) or "", "")
            for element in record.iterfind(_TERMS) if id_ else ():
                term = (element.text or "").strip()
                if id_ and term:
                    counts.add(Reason.MESH_TERMS_READ)
                    yield id_, term
