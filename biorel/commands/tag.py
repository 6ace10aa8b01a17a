"""tag: documents -> documents.parquet and mentions.parquet. Mentions have their concept ids where these are known."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.tag import Tag
from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.formats.documents import read_documents
from biorel.linking.lexicon import LEXICON
from biorel.linking.linker import load_linker
from biorel.ner.taggers import Tagger, TaggerOptions, open_tagger
from biorel.progress import SILENT, Progress
from biorel.records import Document, Mention
from biorel.resources import resource
from biorel.tables import TableWriter

_CHUNK = 256


def run(config: Tag, progress: Progress = SILENT) -> Artifact:
    """Tag the documents and write the folder `config.out`. Memory holds one chunk of documents at a time.

    Mentions in the input are ignored, so that all mentions come from one tagger.

    Raises:
        BiorelError: an input cannot be read, a model is missing, or (with --strict) a row is malformed.
    """
    with artifacts.folder("tag", config.options(), config.out, force=config.force) as output:
        counts = output.counts
        linker_folder = config.linker or resource("models", "linker")
        tagger = _tagger(config, linker_folder, counts)
        links = config.link and config.tagger != "imported" and not config.scispacy_linker
        linker = load_linker(linker_folder) if links else None
        began = time.perf_counter()
        with (
            TableWriter(output.path / "documents.parquet", Document) as documents,
            TableWriter(output.path / "mentions.parquet", Mention) as mentions,
        ):
            for chunk in _chunks(config, counts):
                for document, tagged in zip(chunk, tagger.tag(chunk), strict=True):
                    linked = tagged if linker is None else linker.link(document, tagged)
                    mentions.write(linked)
                    counts.add(Reason.MENTIONS_WRITTEN, count=len(linked))
                    counts.add(
                        Reason.MENTIONS_WITHOUT_CONCEPT, count=sum(mention.entity_id is None for mention in linked)
                    )
                documents.write(chunk)
                counts.add(Reason.DOCUMENTS_WRITTEN, count=len(chunk))
        malformed, places = counts.everywhere(Reason.ROW_MALFORMED)
        if config.strict and malformed:
            raise InputError(places[0], "correct the row, or leave out --strict to skip it")
        rate = counts[Reason.DOCUMENTS_WRITTEN] / max(1e-9, time.perf_counter() - began)
        output.notes["documents_per_second"] = round(rate, 1)
    summary = ["; ".join(f"{reason}: {count}" for reason, count in counts.by_reason.items()), f"{rate:.1f} docs/s"]
    return Artifact(label="tagged", path=config.out, summary=summary)


def _tagger(config: Tag, linker_folder: Path, counts: Counts) -> Tagger:
    shipped = {"spacy": "tagger", "bran": "cdr"}.get(config.tagger)
    options = TaggerOptions(
        annotations=config.annotations,
        lexicon=config.lexicon or linker_folder / LEXICON,
        model=config.tagger_model or (str(resource("models", shipped)) if shipped else ""),
        n_process=config.n_process,
        abbreviations=config.abbreviations,
        scispacy_linker=config.scispacy_linker,
        consistent=config.consistent,
        device=config.device,
    )
    return open_tagger(config.tagger, options, counts)


def _chunks(config: Tag, counts: Counts) -> Iterator[list[Document]]:
    documents = (annotated.document for annotated in read_documents(config.input, counts))
    while chunk := list(islice(documents, _CHUNK)):
        yield chunk
