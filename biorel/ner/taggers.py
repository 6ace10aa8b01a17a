"""Open a tagger by name. To add a tagger, add a file with a function `open_tagger` and a line to `TAGGERS`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Protocol

from biorel.counts import Counts
from biorel.errors import ConfigError
from biorel.records import Document, Mention


class Tagger(Protocol):
    """Finds the mentions of documents."""

    def tag(self, documents: Sequence[Document]) -> list[tuple[Mention, ...]]:
        """Find the mentions of each document, in text order.

        text[start:end] is the text of each mention. The concept id is None unless the tagger also links.
        """
        ...


@dataclass(frozen=True)
class TaggerOptions:
    """The options of all taggers; each tagger reads those that apply to it.

    Attributes:
        annotations: for `imported`, PubTator, BioC or JSON lines files.
        lexicon: for `dictionary`, the Parquet lexicon of a linker, or a text file of lines `name<TAB>type`.
        model: for `spacy`, the name or folder of a model; for `bran`, a model folder.
        n_process: for `spacy`, the number of processes.
        abbreviations: for `spacy`, add the abbreviation detector of scispaCy.
        scispacy_linker: for `spacy`, the knowledge base of scispaCy's linker; empty for no linker.
        consistent: for `spacy` and `bran`, tag every occurrence of a name that was tagged once in the document.
        device: for `bran`, `auto`, `cpu`, `cuda` or `cuda:N`.
    """

    annotations: tuple[Path, ...] = ()
    lexicon: Path = Path()
    model: str = ""
    n_process: int = 1
    abbreviations: bool = False
    scispacy_linker: str = ""
    consistent: bool = True
    device: str = "cpu"


# Modules by name, because each imports a large library (torch, spaCy) that the others do not need.
TAGGERS: Mapping[str, str] = {
    "imported": "biorel.ner.imported",
    "dictionary": "biorel.ner.dictionary",
    "spacy": "biorel.ner.spacy_model",
    "bran": "biorel.ner.bran_tagger",
}


def open_tagger(name: str, options: TaggerOptions, counts: Counts) -> Tagger:
    """Open a tagger.

    Args:
        name: a key of `TAGGERS`.
        counts: receives the numbers of rows that the tagger leaves out or repairs.

    Raises:
        ConfigError: no tagger has this name.
        BiorelError: the model or file of the tagger is missing or unusable.
    """
    if name not in TAGGERS:
        raise ConfigError(f"no tagger is called {name!r}", f"the taggers are {', '.join(TAGGERS)}")
    tagger: Tagger = import_module(TAGGERS[name]).open_tagger(options, counts)
    return tagger
