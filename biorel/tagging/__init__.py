"""Documents into mentions. A tagger is anything with `tag`; `TAGGERS` is the list of those that a user can name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from biorel.ledger import Ledger
from biorel.tagging.tagger import Tagger


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


def _imported(options: Options, ledger: Ledger) -> Tagger:
    from biorel.tagging.imported import read_annotations

    return read_annotations(options.annotations, ledger)


def _dictionary(options: Options, ledger: Ledger) -> Tagger:
    from biorel.tagging.dictionary import DictionaryTagger, read_names

    return DictionaryTagger(read_names(options.lexicon, ledger), ledger)


def _spacy(options: Options, ledger: Ledger) -> Tagger:
    from biorel.tagging.spacy_model import SpacyTagger, load_spacy

    linker = options.scispacy_linker
    nlp = load_spacy(options.model, abbreviations=options.abbreviations, linker=linker)
    tagger = SpacyTagger(nlp, ledger, n_process=options.n_process, knowledge_base=linker)
    return _consistent(tagger, options, ledger)


def _bran(options: Options, ledger: Ledger) -> Tagger:
    from biorel.tagging.neural import BranTagger
    from biorel.training.model_folder import open_model

    return _consistent(BranTagger(open_model(Path(options.model)), ledger, options.device), options, ledger)


def _consistent(tagger: Tagger, options: Options, ledger: Ledger) -> Tagger:
    from biorel.tagging.consistency import ConsistentTagger

    return ConsistentTagger(tagger, ledger) if options.consistent else tagger


TAGGERS: Mapping[str, Callable[[Options, Ledger], Tagger]] = {
    "imported": _imported,
    "dictionary": _dictionary,
    "spacy": _spacy,
    "bran": _bran,
}
