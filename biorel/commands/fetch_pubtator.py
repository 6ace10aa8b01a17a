"""fetch pubtator: downloads annotated abstracts from PubTator3, or takes them from PubTator3's bulk dump."""

from __future__ import annotations

from pathlib import Path

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.fetch_pubtator import FetchPubtator
from biorel.counts import Counts, Reason
from biorel.fetch.batches import MISSING, PMIDS, REQUEST
from biorel.fetch.http import CLOCK, Client
from biorel.fetch.pubtator_api import fetch_export
from biorel.fetch.pubtator_dump import filter_dump
from biorel.fetch.services import read_service
from biorel.formats.pmids import read_pmids, write_missing, write_pmids
from biorel.progress import SILENT, Progress
from biorel.resources import resource

NAMES = {"biocjson": "documents.bioc.jsonl", "pubtator": "documents.pubtator.txt"}


def run(config: FetchPubtator, progress: Progress = SILENT) -> Artifact:
    """Fetch documents into the folder `config.out`.

    Raises:
        FetchError: the service failed. NAME.partial keeps the fetched batches, and the same command resumes from them.
        InputError: a file cannot be read, or contains no PMID.
    """
    resume = "" if config.dump is not None else REQUEST
    with artifacts.folder("fetch pubtator", config.options(), config.out, force=config.force, resume=resume) as output:
        folder, counts = output.path, output.counts
        pmids, reasons = read_pmids(config.pmids, counts)
        if config.dump is not None:
            name = NAMES["pubtator"]
            missing = _filter(config.dump, pmids, folder / name, counts, progress)
        else:
            name = NAMES[config.format]
            service = read_service(resource("services.toml"), "pubtator", config.url)
            client = Client(service, clock=CLOCK, report=progress.line)
            missing = fetch_export(
                folder / name, pmids, config.format, client, counts, progress.line, incomplete=config.incomplete
            )
            output.notes["service"] = {"url": service.url, "requests": client.requests}
        reasons |= missing
        write_pmids(folder / PMIDS, pmids)
        write_missing(folder / MISSING, reasons)
        counts.add(Reason.PMIDS_REQUESTED, count=len(pmids))
        counts.add(Reason.PMIDS_MISSING, count=len(reasons))
    summary = [f"{len(pmids) - len(missing)} documents in {name}, {len(reasons)} PMIDs missing (see {MISSING})"]
    return Artifact(label="documents", path=config.out, summary=summary)


def _filter(dump: Path, pmids: list[str], path: Path, counts: Counts, progress: Progress) -> dict[str, str]:
    """Write the wanted documents of a dump to a file; returns the PMIDs that the dump lacks, each with the reason."""
    began = CLOCK.now()

    def report(read: int, kept: int) -> None:
        rate = read / 1e6 / max(CLOCK.now() - began, 1e-9)
        progress.line(f"{read / 1e9:.1f} GB read, {kept} of {len(pmids)} documents found, {rate:.0f} MB/s")

    with path.open("wb") as out:
        done = filter_dump(dump, pmids, out, counts, report)
    report(done.bytes_read, done.kept)
    return dict.fromkeys(done.missing, "not in the dump")
