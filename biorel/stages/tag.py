"""tag: documents -> documents.parquet and mentions.parquet, the mentions with concept ids where they are known."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from biorel import artifacts
from biorel.config import Tag
from biorel.errors import InputError
from biorel.ledger import MALFORMED, Ledger
from biorel.records import Document, Mention
from biorel.resources import resource
from biorel.sources.documents import read_documents
from biorel.tables import TableWriter
from biorel.tagging import TAGGERS, Options
from biorel.tagging.lexicon import LEXICON
from biorel.tagging.linker import load_linker
from biorel.tagging.tagger import Tagger

_CHUNK = 256
Progress = Callable[[str], None]


def run(config: Tag, progress: Progress = lambda line: None) -> Path:
    """Tag the documents and write the folder `config.out`; returns it. Memory holds a chunk of documents.

    Mentions that the documents bring are left out, so that all are of one tagger.

    Raises:
        BiorelError: an input cannot be read, a model is not there, or (--strict) a row is malformed.
    """
    with artifacts.folder("tag", config, config.out, force=config.force) as artifact:
        ledger = artifact.ledger
        linker_folder = config.linker or resource("models", "linker")
        tagger = _tagger(config, linker_folder, ledger)
        ours = config.link and config.tagger != "imported" and not config.scispacy_linker
        linker = load_linker(linker_folder) if ours else None
        began = time.perf_counter()
        with (
            TableWriter(artifact.path / "documents.parquet", Document) as documents,
            TableWriter(artifact.path / "mentions.parquet", Mention) as mentions,
        ):
            for chunk in _chunks(config, ledger):
                found = tagger.tag(chunk)
                for document, spans in zip(chunk, found, strict=True):
                    linked = spans if linker is None else linker.link(document, spans)
                    mentions.write(linked)
                    ledger.add("mentions written", count=len(linked))
                    ledger.add("mentions without concept id", count=sum(one.entity_id is None for one in linked))
                documents.write(chunk)
                ledger.add("documents written", count=len(chunk))
        if config.strict and ledger[MALFORMED]:
            raise InputError(f"{ledger.examples[MALFORMED][0]}", "mend the row, or leave --strict out to skip it")
        rate = ledger["documents written"] / max(1e-9, time.perf_counter() - began)
        artifact.notes["documents_per_second"] = round(rate, 1)
        progress("; ".join(f"{reason}: {count}" for reason, count in ledger.counts.items()))
        progress(f"{rate:.1f} docs/s")
    return config.out


def _tagger(config: Tag, linker_folder: Path, ledger: Ledger) -> Tagger:
    shipped = {"spacy": "tagger", "bran": "cdr"}.get(config.tagger)
    options = Options(
        annotations=config.annotations,
        lexicon=config.lexicon or linker_folder / LEXICON,
        model=config.tagger_model or (str(resource("models", shipped)) if shipped else ""),
        n_process=config.n_process,
        abbreviations=config.abbreviations,
        scispacy_linker=config.scispacy_linker,
        consistent=config.consistent,
        device=config.device,
    )
    return TAGGERS[config.tagger](options, ledger)


def _chunks(config: Tag, ledger: Ledger) -> Iterator[list[Document]]:
    documents = (annotated.document for annotated in read_documents(config.input, ledger))
    while chunk := list(islice(documents, _CHUNK)):
        yield chunk
