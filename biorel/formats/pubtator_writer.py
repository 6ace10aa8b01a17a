r"""PubTator text: an annotated copy of the documents, with the relations under each.

    227508|t|Naloxone reverses the antihypertensive effect of clonidine.
    227508|a|In unanesthetized, spontaneously hypertensive rats ...
    227508	0	8	Naloxone	Chemical	D009270
    227508	chemical_induced_disease	D008750	D007022	0.91

A document without relations is written as well. Line breaks and tabs in a text become spaces, so that offsets stay.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from biorel.errors import ConfigError, OutputError
from biorel.formats.annotations import join_mentions
from biorel.formats.identifiers import concept_id, local_id
from biorel.records import Document, Mention, Relation

_BREAKS = re.compile(r"[\t\n\r\0]")
_DIGITS = 6


class PubtatorWriter:
    """Writes documents in PubTator format. A context manager."""

    def __init__(self, path: Path) -> None:
        self._stream = path.open("w", encoding="utf-8", newline="\n")

    def write(self, document: Document | None, mentions: Sequence[Mention], relations: Sequence[Relation]) -> None:
        """Write one document: title, abstract, its mentions, its relations, a blank line.

        Raises:
            ConfigError: no document.
            OutputError: an id with a character that ends an id in this format.
        """
        if document is None:
            raise ConfigError("PubTator files hold the text, and there is no document", "give --documents")
        doc_id = document.doc_id
        if "|" in doc_id or _BREAKS.search(doc_id) or doc_id != doc_id.strip() or not doc_id:
            raise OutputError(f"document id {doc_id!r} cannot be written in PubTator format", "use --format bioc")
        self._stream.write(f"{doc_id}|t|{_line(document.title)}\n{doc_id}|a|{_line(document.abstract)}\n")
        for mark in join_mentions(mentions, _spelled):
            self._row(doc_id, str(mark.start), str(mark.end), mark.text, mark.type, mark.identifier)
        owners = _owners(mentions)
        for relation in relations:
            head, tail = _argument(relation.head.id, owners), _argument(relation.tail.id, owners)
            self._row(doc_id, relation.relation, head, tail, str(round(relation.score, _DIGITS)))
        self._stream.write("\n")

    def _row(self, *cells: str) -> None:
        self._stream.write("\t".join(map(_line, cells)) + "\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()


def _line(text: str) -> str:
    """The text on one line, as long as before."""
    return _BREAKS.sub(" ", text)


def _spelled(id_: str, type_: str) -> str:
    """The id of a mention without the namespaces that PubTator leaves out, where its type tells them again."""
    local = local_id(id_)
    return local if concept_id(local, type_) == id_ else id_


def _owners(mentions: Iterable[Mention]) -> Mapping[str, set[str]]:
    """From an id without its namespace to the ids, among the mentions', that are it."""
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for mention in mentions:
        if mention.entity_id:
            owners[mention.entity_id.partition(":")[2] or mention.entity_id].add(mention.entity_id)
    return owners


def _argument(id_: str, owners: Mapping[str, set[str]]) -> str:
    """The id of an argument, whose type its row does not tell: short where it can only mean this concept."""
    local = local_id(id_)
    return local if concept_id(local, "") == id_ or owners.get(local) == {id_} else id_
