"""fetch corpus: downloads a gold corpus from its authors' addresses, verifies and unpacks it."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.fetch_corpus import FetchCorpus
from biorel.counts import Reason
from biorel.fetch.archives import unpack
from biorel.fetch.bulk_files import STATE, BulkFile, copy_files, fetch_files
from biorel.fetch.corpora import corpus_service, read_corpora
from biorel.fetch.http import CLOCK, Client
from biorel.progress import SILENT, Progress
from biorel.resources import resource


def run(config: FetchCorpus, progress: Progress = SILENT) -> Artifact:
    """Fetch or copy a corpus into the folder `config.out`.

    Raises:
        FetchError: the corpus could not be downloaded from any of its addresses. The hint says what to do.
        InputError: a local file is missing, or an archive is damaged or unsafe.
    """
    corpus = read_corpora(resource("corpora.toml"))[config.name]
    service = corpus_service(corpus, config.url)
    resume = "" if config.source is not None else STATE
    with artifacts.folder("fetch corpus", config.options(), config.out, force=config.force, resume=resume) as output:
        folder, counts = output.path, output.counts
        mirror = config.url.rstrip("/") if config.url else ""
        files = [
            BulkFile(file.name, (f"{mirror}/{file.name}",) if mirror else file.urls, file.sha256)
            for file in corpus.files
        ]
        if config.source is not None:
            fetched = copy_files(files, folder, config.source, counts)
        else:
            fetched = fetch_files(files, folder, Client(service, clock=CLOCK, report=progress.line), counts)
        archives = {file.name for file in corpus.files if file.unpack}
        for file in fetched:
            if file.name in archives:
                counts.add(Reason.FILES_UNPACKED, count=_unpack(folder / file.name))
        output.notes |= {
            "files": [asdict(file) for file in fetched],
            "corpus": {"title": corpus.title, "licence": corpus.licence, "citation": corpus.citation},
        }
        (folder / STATE).unlink(missing_ok=True)
    uses = [f"use it with: {line.replace('{out}', str(config.out))}" for line in corpus.use]
    summary = [f"licence: {corpus.licence}", f"cite: {corpus.citation}", *uses]
    return Artifact(label="corpus", path=config.out, summary=summary)


def _unpack(archive: Path) -> int:
    """Unpack an archive into its folder, then remove the archive. A damaged one is removed, too, and fetched again."""
    unpacked = archive.with_suffix(".unpacked")
    shutil.rmtree(unpacked, ignore_errors=True)
    try:
        files = unpack(archive, unpacked)
    finally:
        archive.unlink()
    for item in sorted(unpacked.iterdir()):
        item.rename(archive.parent / item.name)
    unpacked.rmdir()
    return len(files)
