"""Relations into files: one writer per format, each a context manager that streams.

A new format is a file here, a line in `WRITERS`, and its suffixes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from biorel.errors import ConfigError
from biorel.formats.bioc_writer import BiocWriter
from biorel.formats.jsonl_writer import JsonlWriter
from biorel.formats.parquet import ParquetWriter
from biorel.formats.pubtator_writer import PubtatorWriter
from biorel.formats.tsv import TsvWriter
from biorel.records import Document, Mention, Relation


class RelationWriter(Protocol):
    """Writes documents with their relations to one file; memory holds a document (Parquet: a row group)."""

    def write(self, document: Document | None, mentions: Sequence[Mention], relations: Sequence[Relation]) -> None:
        """Write the relations of one document, in the order given.

        Args:
            document, mentions: a format of `HOLDING_TEXT` writes them too; the others leave them unread.
            relations: of this document; may be empty.

        Raises:
            ConfigError: a format that holds the text was given no document.
            OutputError: the format has no way to spell the document's id.
        """

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


WRITERS: dict[str, Callable[[Path], RelationWriter]] = {
    "jsonl": JsonlWriter,
    "parquet": ParquetWriter,
    "tsv": TsvWriter,
    "pubtator": PubtatorWriter,
    "bioc": BiocWriter,
}

HOLDING_TEXT = frozenset({"pubtator", "bioc"})

_SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".tsv": "tsv",
    ".pubtator": "pubtator",
    ".txt": "pubtator",
    ".xml": "bioc",
}


def format_of(path: Path, chosen: str) -> str:
    """The format to write, a key of `WRITERS`: the one chosen, or for `auto` the one of the path's suffix.

    Raises:
        ConfigError: the suffix, or the format chosen, is none of these.
    """
    if chosen != "auto":
        if chosen not in WRITERS:
            raise ConfigError(f"no format {chosen!r}", f"the formats are {', '.join(WRITERS)}")
        return chosen
    found = _SUFFIXES.get(path.suffix.lower())
    if found is None:
        named = f"the suffix {path.suffix!r}" if path.suffix else "a name without a suffix"
        raise ConfigError(
            f"{path}: {named} tells no format",
            f"end the name in {', '.join(_SUFFIXES)}, or say --format {'|'.join(WRITERS)}",
        )
    return found
