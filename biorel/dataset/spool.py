"""Documents parsed once and kept on disk, so that a command can stream them several times.

The spool is two files of JSON lines, one line a document in each: texts, and annotations. It belongs to one process,
which deletes it; no other program reads it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from biorel.records import Annotated, Curation, Document, Mention

_TEXTS, _ANNOTATIONS = "texts.jsonl", "annotations.jsonl"


class SpoolWriter:
    """Writes documents to a spool. A context manager."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._texts = (folder / _TEXTS).open("w", encoding="ascii")
        self._annotations = (folder / _ANNOTATIONS).open("w", encoding="ascii")

    def write(self, annotated: Annotated) -> None:
        document = annotated.document
        mentions = [(m.doc_id, m.start, m.end, m.text, m.type, m.entity_id) for m in annotated.mentions]
        curations = [
            (c.doc_id, c.head_type, c.head_id, c.relation, c.tail_type, c.tail_id, c.asserted)
            for c in annotated.curations
        ]
        self._texts.write(json.dumps((document.doc_id, document.title, document.abstract)) + "\n")
        self._annotations.write(json.dumps((mentions, curations)) + "\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._texts.close()
        self._annotations.close()


@dataclass(frozen=True)
class Spool:
    """A spool that is complete."""

    folder: Path

    def documents(self) -> Iterator[Document]:
        """The documents in the order in which they were written."""
        with (self.folder / _TEXTS).open(encoding="ascii") as texts:
            for line in texts:
                yield Document(*json.loads(line))

    def annotated(self) -> Iterator[Annotated]:
        """The documents with their annotations, in the same order."""
        with (self.folder / _ANNOTATIONS).open(encoding="ascii") as lines:
            for document, line in zip(self.documents(), lines, strict=True):
                mentions, curations = json.loads(line)
                yield Annotated(
                    document,
                    tuple(Mention(*mention) for mention in mentions),
                    tuple(Curation(*curation) for curation in curations),
                )
