"""The output formats for relations. The writer of a format is a context manager that writes one document at a time.

To add a format, add one file with its writer, and one line to the table `FORMATS`. The choices of `--format`, the
suffixes of output files and the Python API follow from that table. The module of a writer is imported only when a file
is written.
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
    """Writes documents with their relations to one file. Memory holds one document (for Parquet, one row group)."""

    def write(self, document: Document | None, mentions: Sequence[Mention], relations: Sequence[Relation]) -> None:
        """Write the relations of one document, in the order given.

        Args:
            document, mentions: used only by the formats whose files contain the text of the documents.
            relations: the relations of this document; may be empty.

        Raises:
            ConfigError: the format needs the text, but `document` is None.
            OutputError: the format cannot express the document's id.
        """

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Format(NamedTuple):
    """An output format.

    Attributes:
        home: module and class of the writer, as `module:class`.
        suffixes: the file name suffixes of this format; biorel uses the first when it names a file itself.
        holds_text: whether a file contains the text of the documents.
    """

    home: str
    suffixes: tuple[str, ...]
    holds_text: bool = False

    @property
    def writer(self) -> Callable[[Path], RelationWriter]:
        """The class that opens a file for writing."""
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
    """The chosen format, or the format that has the path's suffix if `chosen` is `auto`. Formats are keys of `FORMATS`.

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
