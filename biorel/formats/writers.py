"""The output formats for relations: one writer per format, each a context manager that streams.

A new format is one file with its writer, and one line in `FORMATS`: the choices of `--format`, the suffixes of output
files and the Python API follow from the table. A writer's module is imported when a file is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Protocol, Self

from biorel.errors import ConfigError
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


class Format(NamedTuple):
    """An output format.

    Attributes:
        home: module and class of its writer, as `module:class`.
        suffixes: of the files in this format; the first is that of a file without a given name.
        holds_text: whether the file holds the documents too.
    """

    home: str
    suffixes: tuple[str, ...]
    holds_text: bool = False

    @property
    def writer(self) -> Callable[[Path], RelationWriter]:
        """Opens a file for writing."""
        module, _, name = self.home.partition(":")
        writer: Callable[[Path], RelationWriter] = getattr(import_module(module), name)
        return writer


FORMATS: Mapping[str, Format] = {
    "jsonl": Format("biorel.formats.relations:JsonlWriter", (".jsonl", ".ndjson")),
    "parquet": Format("biorel.formats.parquet:ParquetWriter", (".parquet",)),
    "tsv": Format("biorel.formats.tsv:TsvWriter", (".tsv",)),
    "pubtator": Format("biorel.formats.pubtator:PubtatorWriter", (".pubtator", ".txt"), holds_text=True),
    "bioc": Format("biorel.formats.bioc.writer:BiocWriter", (".xml",), holds_text=True),
}


def format_of(path: Path, chosen: str) -> str:
    """Name the format to write, a key of `FORMATS`: the one chosen, or for `auto` the one with the path's suffix.

    Raises:
        ConfigError: no format has this name or suffix.
    """
    if chosen != "auto":
        if chosen not in FORMATS:
            raise ConfigError(f"unknown output format {chosen!r}", f"use one of {', '.join(FORMATS)}")
        return chosen
    suffix = path.suffix.lower()
    for name, format_ in FORMATS.items():
        if suffix in format_.suffixes:
            return name
    raise ConfigError(
        f"{path}: unknown output format {path.suffix!r}" if path.suffix else f"{path}: the name has no suffix",
        f"use one of {', '.join(suffix for format_ in FORMATS.values() for suffix in format_.suffixes)}, "
        f"or --format {'|'.join(FORMATS)}",
    )
