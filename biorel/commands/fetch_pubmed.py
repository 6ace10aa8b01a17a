"""fetch pubmed: writes PubMed's articles, from the E-utilities or local baseline files, as a table of documents."""

from __future__ import annotations

import os

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.fetch_pubmed import FetchPubmed
from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.fetch.batches import MISSING, PMIDS, REQUEST, FetchBatches, digest_of
from biorel.fetch.http import CLOCK, Client
from biorel.fetch.pubmed import (
    SEARCHED,
    fetch_batches,
    read_baseline,
    search_once,
    write_tables,
)
from biorel.fetch.services import read_service
from biorel.formats.pmids import read_pmids, write_missing, write_pmids
from biorel.formats.pubmed_versions import LatestVersions, baseline_files
from biorel.knowledge.ctd import read_curations
from biorel.progress import SILENT, Progress
from biorel.resources import resource


def run(config: FetchPubmed, progress: Progress = SILENT) -> Artifact:
    """Fetch articles into the folder `config.out`.

    Raises:
        FetchError: the service failed. NAME.partial keeps the fetched batches, and the same command resumes from them.
        InputError: a file cannot be read, or there is nothing to fetch.
    """
    with artifacts.folder("fetch pubmed", config.options(), config.out, force=config.force, resume=REQUEST) as output:
        folder, counts, batches = output.path, output.counts, FetchBatches(output.path)
        if config.baseline:
            pmids, reasons = _listed_pmids(config, counts)
            files = baseline_files(config.baseline)
            sizes = [(str(path), path.stat().st_size) for path in files]
            batches.resume_or_begin({"files": [list(size) for size in sizes], "pmids": digest_of(pmids)})
            read_baseline(batches, files, None if pmids is None else set(pmids), progress.line)
            reasons |= dict.fromkeys(pmids or (), "not in these files")
            versions = LatestVersions(files)
            output.notes["files"] = [{"path": path, "bytes": size} for path, size in sizes]
        else:
            client = _client(config, progress)
            if config.query is None:
                pmids, reasons = _listed_pmids(config, counts)
                batches.resume_or_begin(
                    {"url": client.service.url, "query": None, "max": config.max, "pmids": digest_of(pmids)}
                )
            else:
                pmids, reasons = search_once(folder, batches, client, config.query, config.max, counts), {}
                progress.line(f"{len(pmids)} PMIDs found")
            failed = fetch_batches(batches, pmids or [], client, progress.line, incomplete=config.incomplete)
            reasons |= dict.fromkeys(pmids or (), "not returned by PubMed") | failed
            output.notes["service"] = {"url": client.service.url, "requests": client.requests}
            versions = LatestVersions()
        written = write_tables(folder, batches, versions, reasons, counts, config.max)
        if pmids is not None:
            reasons |= {pmid: "deleted from PubMed" for pmid in pmids if versions.deleted(pmid)}
            write_pmids(folder / PMIDS, pmids)
            counts.add(Reason.PMIDS_REQUESTED, count=len(pmids))
        write_missing(folder / MISSING, reasons)
        counts.add(Reason.PMIDS_MISSING, count=len(reasons))
        batches.discard()
        (folder / SEARCHED).unlink(missing_ok=True)
    summary = [f"{written} documents, {len(reasons)} PMIDs missing (see {MISSING})"]
    return Artifact(label="documents", path=config.out, summary=summary)


def _client(config: FetchPubmed, progress: Progress) -> Client:
    service = read_service(resource("services.toml"), "eutils", config.url)
    common = {"tool": config.tool} | ({"email": config.email} if config.email else {})
    if not config.email:
        progress.line(
            "NCBI asks users to give an e-mail address (--email), so that it can warn them before it blocks them"
        )
    key = os.environ.get("NCBI_API_KEY", "").strip()
    return Client(service, common=common, key=key, clock=CLOCK, report=progress.line)


def _listed_pmids(config: FetchPubmed, counts: Counts) -> tuple[list[str] | None, dict[str, str]]:
    """The PMIDs of --pmids or --ctd (None without these options), and the invalid lines, each with the reason."""
    if config.pmids:
        pmids, invalid = read_pmids(config.pmids, counts)
    elif config.ctd:
        # inferred rows are left out, because their articles do not state the relation of the pair
        articles = dict.fromkeys(row.doc_id for row in read_curations(config.ctd, Counts()) if row.asserted)
        pmids, invalid = sorted(articles, key=int), {}
        if not pmids:
            raise InputError(f"{config.ctd}: contains no curated row with a PubMed id")
    else:
        return None, {}
    return pmids if config.baseline else pmids[: config.max], invalid
