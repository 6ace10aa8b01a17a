"""fetch corpus: a gold corpus from where its authors publish it, verified and unpacked."""

from __future__ import annotations

import shutil
from pathlib import Path

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.fetch_corpus import FetchCorpus
from biorel.counts import Reason
from biorel.fetch.archives import unpack
from biorel.fetch.bulk_files import STATE, Wanted, copy_files, fetch_files, write_state
from biorel.fetch.corpora import Corpus, corpus_service, read_corpora
from biorel.fetch.http import Client
from biorel.fetch.pacing import CLOCK
from biorel.progress import SILENT, Progress
from biorel.resources import resource


def run(config: FetchCorpus, progress: Progress = SILENT) -> Artifact:
    """Bring a corpus into the folder `config.out`.

    Raises:
        FetchError: no place has it; the message says what to do.
        InputError: a local file is missing, or an archive is damaged or unsafe.
    """
    corpus = read_corpora(resource("corpora.toml"))[config.name]
    service = corpus_service(corpus, config.url)
    resume = "" if config.source is not None else STATE
    with artifacts.folder("fetch corpus", config.options(), config.out, force=config.force, resume=resume) as output:
        folder, counts = output.path, output.counts
        files = _wanted(corpus, config.url)
        if config.source is not None:
            entries = copy_files(files, folder, config.source, counts)
        else:
            if not output.resumed:
                write_state(folder, {})
            entries = fetch_files(files, folder, Client(service, clock=CLOCK, tell=progress.line), counts)
        archives = {file.name for file in corpus.files if file.unpack}
        for entry in entries:
            if entry.name in archives:
                counts.add(Reason.FILES_UNPACKED, count=_unpacked(folder / entry.name))
        output.notes |= {
            "files": [entry.to_json() for entry in entries],
            "corpus": {"title": corpus.title, "licence": corpus.licence, "citation": corpus.citation},
        }
        (folder / STATE).unlink(missing_ok=True)
    uses = [f"use it with: {line.replace('{out}', str(config.out))}" for line in corpus.use]
    summary = [f"licence: {corpus.licence}", f"cite: {corpus.citation}", *uses]
    return Artifact(label="corpus", path=config.out, summary=summary)


def _wanted(corpus: Corpus, url: str | None) -> list[Wanted]:
    return [
        Wanted(file.name, (f"{url.rstrip('/')}/{file.name}",) if url else file.urls, file.sha256)
        for file in corpus.files
    ]


def _unpacked(archive: Path) -> int:
    """Unpack an archive beside itself and remove it, be it good or bad: a bad one must be fetched anew."""
    aside = archive.with_suffix(".unpacked")
    shutil.rmtree(aside, ignore_errors=True)
    try:
        files = unpack(archive, aside)
    finally:
        archive.unlink()
    for item in sorted(aside.iterdir()):
        item.rename(archive.parent / item.name)
    aside.rmdir()
    return len(files)
