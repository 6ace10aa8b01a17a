"""What a tagger is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from biorel.records import Document, Mention


class Tagger(Protocol):
    """What finds mentions."""

    def tag(self, documents: Sequence[Document]) -> list[tuple[Mention, ...]]:
        """The mentions of each document, in the order of the documents; each in the order of its text.

        A mention's span shows its text. Its concept id is None where the tagger does not link.
        """
        ...
