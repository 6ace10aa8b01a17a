"""biorel: from biomedical abstracts to linked, scored relations with their evidence.

>>> import biorel
>>> extractor = biorel.load("cdr")
>>> doc = extractor("Naloxone reversed the hypotension caused by clonidine.")
>>> [(relation.head.name, relation.tail.name) for relation in doc.relations]
[('clonidine', 'hypotension')]

Importing the package loads none of its dependencies; each name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from biorel.errors import BiorelError
    from biorel.extraction.api import load, read, shipped_models, to_frame, write
    from biorel.extraction.document import ExtractedDocument, ExtractedRelation, MentionPair, Outcome
    from biorel.extraction.extractor import Extractor
    from biorel.records import Annotated, BadRecord, Document, Entity, Mention

__version__ = "0.1.0"

_MODULES = {
    "biorel.errors": ("BiorelError",),
    "biorel.extraction.api": ("load", "read", "shipped_models", "to_frame", "write"),
    "biorel.extraction.document": ("ExtractedDocument", "ExtractedRelation", "MentionPair", "Outcome"),
    "biorel.extraction.extractor": ("Extractor",),
    "biorel.records": ("Annotated", "BadRecord", "Document", "Entity", "Mention"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Annotated",
    "BadRecord",
    "BiorelError",
    "Document",
    "Entity",
    "ExtractedDocument",
    "ExtractedRelation",
    "Extractor",
    "Mention",
    "MentionPair",
    "Outcome",
    "load",
    "read",
    "shipped_models",
    "to_frame",
    "write",
]


if not TYPE_CHECKING:  # so that type checkers report a misspelt name

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
