"""fetch pubtator: annotated abstracts from the PubTator3 service, or out of its bulk dump."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.fetch_pubtator import FetchPubtator
from biorel.counts import Counts, Reason
from biorel.errors import FetchError
from biorel.fetch.batches import REQUEST, FetchBatches, same_request, write_request
from biorel.fetch.http import Client
from biorel.fetch.pacing import CLOCK
from biorel.fetch.pubtator_api import BATCH, BIOC, export
from biorel.fetch.pubtator_dump import filter_dump
from biorel.fetch.services import read_service
from biorel.formats.pmids import read_pmids, write_missing, write_pmids
from biorel.progress import SILENT, Progress
from biorel.resources import resource

MISSING, PMIDS = "missing.tsv", "pmids.txt"
NAMES = {"biocjson": "documents.bioc.jsonl", "pubtator": "documents.pubtator.txt"}
_PARTS = "parts"


def run(config: FetchPubtator, progress: Progress = SILENT) -> Artifact:
    """Fetch into the folder `config.out`.

    Raises:
        FetchError: the service failed; what was fetched stays in NAME.partial, and the same command goes on from there.
        InputError: a file cannot be read, or there is no PMID.
    """
    resume = "" if config.dump is not None else REQUEST
    with artifacts.folder("fetch pubtator", config.options(), config.out, force=config.force, resume=resume) as output:
        folder, counts = output.path, output.counts
        pmids, reasons = read_pmids(config.pmids, counts)
        if config.dump is not None:
            missing, name = _filter(config.dump, pmids, folder, counts, progress), NAMES["pubtator"]
        else:
            service = read_service(resource("services.toml"), "pubtator", config.url)
            client = Client(service, clock=CLOCK, tell=progress.line)
            missing, name = _export(config, pmids, folder, client, counts, progress), NAMES[config.format]
            output.notes["service"] = {"url": service.url, "requests": client.requests}
        reasons |= missing
        write_pmids(folder / PMIDS, pmids)
        write_missing(folder / MISSING, reasons)
        counts.add(Reason.PMIDS_REQUESTED, count=len(pmids))
        counts.add(Reason.PMIDS_MISSING, count=len(reasons))
    summary = [f"{len(pmids) - len(missing)} documents in {name}, {len(reasons)} PMIDs missing (see {MISSING})"]
    return Artifact(label="documents", path=config.out, summary=summary)


def _filter(dump: Path, pmids: list[str], folder: Path, counts: Counts, progress: Progress) -> dict[str, str]:
    began = CLOCK.now()

    def told(read: int, kept: int) -> None:
        rate = read / 1e6 / max(CLOCK.now() - began, 1e-9)
        progress.line(f"{read / 1e9:.1f} GB read, {kept} of {len(pmids)} documents found, {rate:.0f} MB/s")

    with (folder / NAMES["pubtator"]).open("wb") as out:
        done = filter_dump(dump, pmids, out, counts, told)
    told(done.bytes_read, done.kept)
    return dict.fromkeys(done.missing, "not in the dump")


def _export(
    config: FetchPubtator, pmids: list[str], folder: Path, client: Client, counts: Counts, progress: Progress
) -> dict[str, str]:
    """Fetch what is not there yet, and join the parts; returns the PMIDs without a document, with the reason."""
    digest = hashlib.sha256("\n".join(pmids).encode()).hexdigest()
    request = {"url": client.service.url, "format": config.format, "pmids": digest}
    if not same_request(folder, request):
        shutil.rmtree(folder / _PARTS, ignore_errors=True)
        write_request(folder, request)
    parts, count = FetchBatches(folder / _PARTS), -(-len(pmids) // BATCH)

    def batch(number: int) -> list[str]:
        documents = export(client, pmids[number * BATCH : (number + 1) * BATCH], config.format)
        # a PMID before its lines, so that the books can be kept from the parts
        return [line for pmid, lines in documents.items() for line in (f"#{pmid}", *lines)]

    failed = parts.fetch(count, batch, progress.line)
    if failed and not config.incomplete:
        first, error = next(iter(failed.items()))
        raise FetchError(
            f"{len(failed)} of {count} batches failed; the first, number {first + 1}: {error.message}",
            "what was fetched is kept: give the same command again to fetch the rest, or accept it with --incomplete",
        )
    missing = dict.fromkeys(pmids, "not returned by PubTator")
    for number, error in failed.items():
        missing |= dict.fromkeys(pmids[number * BATCH : (number + 1) * BATCH], f"not fetched: {error.message}")
    with (folder / NAMES[config.format]).open("w", encoding="utf-8", newline="\n") as out:
        for number in range(count):
            for line in parts.read(number):
                if line.startswith("#"):
                    if config.format != BIOC and len(missing) < len(pmids):
                        out.write("\n")
                    del missing[line[1:]]
                    counts.add(Reason.DOCUMENTS_WRITTEN)
                else:
                    out.write(f"{line}\n")
    shutil.rmtree(folder / _PARTS)
    (folder / REQUEST).unlink()
    return missing
