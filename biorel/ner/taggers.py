"""Documents into mentions. A tagger is anything with `tag`; `TAGGERS` is the list of those that a user can name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from biorel.counts import Counts
from biorel.ner.tagger import Tagger


@dataclass(frozen=True)
class Options:
    """What the taggers take; each reads its own.

    Attributes:
        annotations: `imported`: PubTator, BioC or JSONL files.
        lexicon: `dictionary`: a lexicon's Parquet table, or rows of a name, a tab and a type.
        model: `spacy`: name or folder; `bran`: model folder.
        n_process: `spacy`: worker processes.
        abbreviations: `spacy`: add scispaCy's detector.
        scispacy_linker: `spacy`: the knowledge base of scispaCy's linker; empty for none.
        consistent: `spacy`, `bran`: tag what was tagged once in a document at its other places, too.
        device: `bran`: as `--device`.
    """

    annotations: tuple[Path, ...] = ()
    lexicon: Path = Path()
    model: str = ""
    n_process: int = 1
    abbreviations: bool = False
    scispacy_linker: str = ""
    consistent: bool = True
    device: str = "cpu"


# each builder imports its tagger when it is asked for: torch, spaCy and the automaton are needed by one of them only


def _imported(options: Options, counts: Counts) -> Tagger:
    from biorel.ner.imported import read_annotations

    return read_annotations(options.annotations, counts)


def _dictionary(options: Options, counts: Counts) -> Tagger:
    from biorel.ner.dictionary import DictionaryTagger, read_names

    return DictionaryTagger(read_names(options.lexicon, counts), counts)


def _spacy(options: Options, counts: Counts) -> Tagger:
    from biorel.ner.spacy_model import SpacyTagger, load_spacy

    linker = options.scispacy_linker
    nlp = load_spacy(options.model, abbreviations=options.abbreviations, linker=linker)
    tagger = SpacyTagger(nlp, counts, n_process=options.n_process, knowledge_base=linker)
    return _consistent(tagger, options, counts)


def _bran(options: Options, counts: Counts) -> Tagger:
    from biorel.ner.bran_tagger import BranTagger
    from biorel.training.model_folder import open_model

    return _consistent(BranTagger(open_model(Path(options.model)), counts, options.device), options, counts)


def _consistent(tagger: Tagger, options: Options, counts: Counts) -> Tagger:
    from biorel.ner.consistency import ConsistentTagger

    return ConsistentTagger(tagger, counts) if options.consistent else tagger


TAGGERS: Mapping[str, Callable[[Options, Counts], Tagger]] = {
    "imported": _imported,
    "dictionary": _dictionary,
    "spacy": _spacy,
    "bran": _bran,
}
