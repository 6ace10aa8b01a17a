"""Write BioC XML: a collection of documents, each with two passages, their annotations, and relations.

Documents without relations are also written. A relation has the infons `type`, `score`, `entity1` (the head concept)
and `entity2` (the tail concept), named as in BioRED. The nodes of a relation are the two annotations of its strongest
evidence.
Characters that XML cannot hold become spaces, so that offsets do not change.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from lxml import etree

from biorel.errors import ConfigError
from biorel.formats.annotations import Annotation, join_mentions
from biorel.records import Document, Mention, Relation

_DOCTYPE = '<!DOCTYPE collection SYSTEM "BioC.dtd">'
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DIGITS = 6


class BiocWriter:
    """A context manager that writes documents to a BioC XML file, one at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open = ExitStack()
        self._file: Any = None

    def write(self, document: Document | None, mentions: Sequence[Mention], relations: Sequence[Relation]) -> None:
        """Write one document with its annotations and relations.

        Raises:
            ConfigError: `document` is None.
        """
        if document is None:
            raise ConfigError(
                "a BioC file must contain the text of its documents, but no documents were given", "give --documents"
            )
        self._file.write(_document(document, mentions, relations), pretty_print=True)

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            # a Python stream, because lxml's own does not raise OSError when the disk is full
            stream = opened.enter_context(self._path.open("wb"))
            self._file = opened.enter_context(etree.xmlfile(stream, encoding="UTF-8"))
            self._file.write_declaration(doctype=_DOCTYPE)
            opened.enter_context(self._file.element("collection"))
            # the DTD requires these three elements; the date stays empty so that equal runs give equal files
            for name, text in (("source", "biorel"), ("date", ""), ("key", "")):
                self._file.write(_with_text(etree.Element(name), text), pretty_print=True)
            self._open = opened.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.__exit__(kind, error, trace)


def _document(document: Document, mentions: Sequence[Mention], relations: Sequence[Relation]) -> Any:
    element = etree.Element("document")
    _child(element, "id", document.doc_id)
    marks = list(enumerate(join_mentions(mentions, lambda id_, type_: id_), start=1))
    numbers: dict[tuple[int, int, str | None], str] = {}
    abstract = len(document.title) + 1
    for kind, offset, text in (("title", 0, document.title), ("abstract", abstract, document.abstract)):
        passage = etree.SubElement(element, "passage")
        _infon(passage, "type", kind)
        _child(passage, "offset", str(offset))
        _child(passage, "text", text)
        for number, mark in marks:
            if (mark.start < abstract) == (kind == "title"):
                numbers.update({(mark.start, mark.end, id_): str(number) for id_ in mark.entity_ids})
                _annotate(passage, str(number), mark)
    for number, relation in enumerate(relations, start=1):
        _relate(element, f"R{number}", relation, numbers)
    return element


def _annotate(passage: Any, number: str, mark: Annotation) -> None:
    annotation = etree.SubElement(passage, "annotation", id=number)
    _infon(annotation, "type", mark.type)
    _infon(annotation, "identifier", mark.identifier)
    etree.SubElement(annotation, "location", offset=str(mark.start), length=str(mark.end - mark.start))
    _child(annotation, "text", mark.text)


def _relate(element: Any, number: str, relation: Relation, numbers: Mapping[tuple[int, int, str | None], str]) -> None:
    """Add a relation. It gets nodes only if both mentions of its strongest evidence are annotations."""
    related = etree.SubElement(element, "relation", id=number)
    _infon(related, "type", relation.relation)
    _infon(related, "score", str(round(relation.score, _DIGITS)))
    _infon(related, "entity1", relation.head.id)
    _infon(related, "entity2", relation.tail.id)
    strongest = relation.strongest
    if strongest is not None:
        head = numbers.get((*strongest.head, relation.head.id))
        tail = numbers.get((*strongest.tail, relation.tail.id))
        if head is not None and tail is not None:
            etree.SubElement(related, "node", refid=head, role="head")
            etree.SubElement(related, "node", refid=tail, role="tail")


def _infon(parent: Any, key: str, text: str) -> None:
    _with_text(etree.SubElement(parent, "infon", key=key), text)


def _child(parent: Any, tag: str, text: str) -> None:
    _with_text(etree.SubElement(parent, tag), text)


def _with_text(element: Any, text: str) -> Any:
    element.text = _NO_XML.sub(" ", text)
    return element
