"""The taggers by name. A new one is a file with a function `open_tagger` and a line in `TAGGERS`."""

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
        """The mentions of each document, in text order.

        The span of a mention contains its text. Its concept id is None unless the tagger also links.
        """
        ...


@dataclass(frozen=True)
class TaggerOptions:
    """The options of all taggers; each tagger reads those that apply to it.

    Attributes:
        annotations: `imported`: PubTator, BioC or JSON lines files.
        lexicon: `dictionary`: the Parquet lexicon of a linker, or a text file of lines `name<TAB>type`.
        model: `spacy`: name or folder of a model; `bran`: a model folder.
        n_process: `spacy`: number of processes.
        abbreviations: `spacy`: add the abbreviation detector of scispaCy.
        scispacy_linker: `spacy`: the knowledge base of scispaCy's linker; empty for no linker.
        consistent: `spacy`, `bran`: tag every occurrence of a name that was tagged once in the document.
        device: `bran`: `auto`, `cpu`, `cuda` or `cuda:N`.
    """

    annotations: tuple[Path, ...] = ()
    lexicon: Path = Path()
    model: str = ""
    n_process: int = 1
    abbreviations: bool = False
    scispacy_linker: str = ""
    consistent: bool = True
    device: str = "cpu"


# Modules by name, since each imports a large library (torch, spaCy) that the others do without.
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
        counts: receives what the tagger leaves out or repairs.

    Raises:
        ConfigError: there is no tagger of this name.
        BiorelError: the model or file of the tagger is missing or unusable.
    """
    if name not in TAGGERS:
        raise ConfigError(f"no tagger is called {name!r}", f"the taggers are {', '.join(TAGGERS)}")
    tagger: Tagger = import_module(TAGGERS[name]).open_tagger(options, counts)
    return tagger
