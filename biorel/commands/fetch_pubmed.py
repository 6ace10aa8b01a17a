"""fetch pubmed: PubMed's articles into a documents table, from the E-utilities or from local baseline files.

Either way the articles are first kept in parts, one for each batch or file, so that a killed fetch goes on with what it
lacks; the tables are made of the parts when all are there.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.fetch_pubmed import FetchPubmed
from biorel.counts import Counts, Reason
from biorel.errors import FetchError, InputError
from biorel.fetch.batches import REQUEST, FetchBatches, same_request, write_request
from biorel.fetch.eutils import BATCH, fetch_articles, search
from biorel.fetch.http import Client
from biorel.fetch.pacing import CLOCK
from biorel.fetch.services import read_service
from biorel.formats.pmids import read_pmids, write_missing, write_pmids
from biorel.formats.pubmed import OTHER_ABSTRACT, Citation, Deletion, from_line, read_pubmed, to_line
from biorel.formats.pubmed_versions import LatestVersions, baseline_files
from biorel.knowledge.ctd_curations import read_curations
from biorel.progress import SILENT, Progress
from biorel.records import Article, Document
from biorel.resources import resource
from biorel.tables import TableWriter

DOCUMENTS, ARTICLES, MISSING, PMIDS = "documents.parquet", "articles.parquet", "missing.tsv", "pmids.txt"
_PARTS, _SEARCHED = "parts", "searched.json"


def run(config: FetchPubmed, progress: Progress = SILENT) -> Artifact:
    """Fetch into the folder `config.out`.

    Raises:
        FetchError: the service failed; what was fetched stays in NAME.partial, and the same command goes on from there.
        InputError: a file cannot be read, or there is nothing to fetch.
    """
    with artifacts.folder("fetch pubmed", config.options(), config.out, force=config.force, resume=REQUEST) as output:
        folder, counts = output.path, output.counts
        if config.baseline:
            asked, reasons = _listed(config, counts)
            files = baseline_files(config.baseline)
            _begin(folder, {"files": [[str(path), path.stat().st_size] for path in files], "pmids": _digest(asked)})
            parts, count = _read_files(folder, files, asked, progress), len(files)
            reasons |= dict.fromkeys(asked or (), "not in these files")
            standing = LatestVersions(files)
            output.notes["files"] = [{"path": str(path), "bytes": path.stat().st_size} for path in files]
        else:
            client = _client(config, progress)
            asked, reasons = _asked(config, folder, client, counts, progress)
            parts, count = FetchBatches(folder / _PARTS), -(-len(asked) // BATCH)
            failed = _fetch(parts, asked, client, progress)
            if failed and not config.incomplete:
                raise _unfinished(failed, count)
            reasons |= dict.fromkeys(asked, "not returned by PubMed")
            for number, error in failed.items():
                batch = asked[number * BATCH : (number + 1) * BATCH]
                reasons |= dict.fromkeys(batch, f"not fetched: {error.message}")
            output.notes["service"] = {"url": client.service.url, "requests": client.requests}
            standing = LatestVersions()
        written = _write_tables(folder, parts, count, standing, reasons, counts, config.max)
        if asked is not None:
            reasons |= {pmid: "deleted from PubMed" for pmid in asked if standing.deleted(pmid)}
            write_pmids(folder / PMIDS, asked)
            counts.add(Reason.PMIDS_REQUESTED, count=len(asked))
        write_missing(folder / MISSING, reasons)
        counts.add(Reason.PMIDS_MISSING, count=len(reasons))
        shutil.rmtree(folder / _PARTS)
        (folder / _SEARCHED).unlink(missing_ok=True)
        (folder / REQUEST).unlink()
    summary = [f"{written} documents, {len(reasons)} PMIDs missing (see {MISSING})"]
    return Artifact(label="documents", path=config.out, summary=summary)


def _client(config: FetchPubmed, progress: Progress) -> Client:
    service = read_service(resource("services.toml"), "eutils", config.url)
    common = {"tool": config.tool} | ({"email": config.email} if config.email else {})
    if not config.email:
        progress.line("NCBI asks for --email, so that it can write to you before it blocks you")
    key = os.environ.get("NCBI_API_KEY", "").strip()
    return Client(service, common=common, key=key, clock=CLOCK, tell=progress.line)


def _listed(config: FetchPubmed, counts: Counts) -> tuple[list[str] | None, dict[str, str]]:
    """The PMIDs of --pmids or --ctd, None where neither is given, and the lines that are no PMID with the reason."""
    if config.pmids:
        pmids, bad = read_pmids(config.pmids, counts)
    elif config.ctd:
        # CTD's inferred rows name articles too, but not for what they say of the pair
        found = dict.fromkeys(row.doc_id for row in read_curations(config.ctd, Counts()) if row.asserted)
        pmids, bad = sorted(found, key=int), {}
        if not pmids:
            raise InputError(f"{config.ctd}: no curated row with a PubMed id")
    else:
        return None, {}
    return pmids if config.baseline else pmids[: config.max], bad


def _asked(
    config: FetchPubmed, folder: Path, client: Client, counts: Counts, progress: Progress
) -> tuple[list[str], dict[str, str]]:
    """The PMIDs to fetch; those of a query are searched once and kept with the work."""
    listed, bad = _listed(config, counts)
    request = {"url": client.service.url, "query": config.query, "max": config.max, "pmids": _digest(listed)}
    if listed is not None:
        _begin(folder, request)
        return listed, bad
    query = config.query or ""
    if same_request(folder, request):
        books = json.loads((folder / _SEARCHED).read_text(encoding="utf-8"))
        counts.include(Counts.of(books["counts"], books["examples"]))
        return read_pmids([folder / PMIDS], Counts())[0], {}
    searched = Counts()
    found = search(client, query, searched, config.max)
    if not found:
        raise InputError(f"no article of PubMed answers the query {query!r}", "try it at pubmed.ncbi.nlm.nih.gov")
    _begin(folder, request, found, searched)
    counts.include(searched)
    progress.line(f"{len(found)} PMIDs found")
    return found, {}


def _begin(
    folder: Path, request: Mapping[str, Any], pmids: list[str] | None = None, searched: Counts | None = None
) -> None:
    """Go on with the work in the folder where it is for the same request, else begin anew.

    The former request goes first, and the new one comes last: what lies there in between is nobody's.
    """
    if same_request(folder, request):
        return
    (folder / REQUEST).unlink(missing_ok=True)
    shutil.rmtree(folder / _PARTS, ignore_errors=True)
    (folder / PMIDS).unlink(missing_ok=True)
    if pmids:
        write_pmids(folder / PMIDS, pmids)
    if searched is not None:
        artifacts.write_json(folder / _SEARCHED, {"counts": searched.by_reason, "examples": searched.examples})
    write_request(folder, request)


def _digest(pmids: list[str] | None) -> str:
    return "" if pmids is None else hashlib.sha256("\n".join(pmids).encode()).hexdigest()


def _fetch(parts: FetchBatches, pmids: list[str], client: Client, progress: Progress) -> dict[int, FetchError]:
    def batch(number: int) -> list[str]:
        return [to_line(item) for item in fetch_articles(client, pmids[number * BATCH : (number + 1) * BATCH])]

    return parts.fetch(-(-len(pmids) // BATCH), batch, progress.line)


def _unfinished(failed: dict[int, FetchError], count: int) -> FetchError:
    first, error = next(iter(failed.items()))
    return FetchError(
        f"{len(failed)} of {count} batches failed; the first, number {first + 1}: {error.message}",
        "what was fetched is kept: give the same command again to fetch the rest, or accept it with --incomplete",
    )


def _read_files(folder: Path, files: list[Path], asked: list[str] | None, progress: Progress) -> FetchBatches:
    wanted = None if asked is None else set(asked)

    def lines(number: int) -> Iterator[str]:
        for record in read_pubmed(files[number], Counts()):
            doc_id = record.doc_id if isinstance(record, Deletion) else record.document.doc_id
            if wanted is None or doc_id in wanted:
                yield to_line(record)

    parts = FetchBatches(folder / _PARTS)
    parts.fetch(len(files), lines, progress.line)
    return parts


def _write_tables(
    folder: Path,
    parts: FetchBatches,
    count: int,
    standing: LatestVersions,
    reasons: dict[str, str],
    counts: Counts,
    most: int | None,
) -> int:
    """Write the citations that stand; what is written leaves `reasons`, what is not enters it."""
    for number, place, record in _records(parts, count):
        standing.note(record, number, place)
    written = 0
    with TableWriter(folder / DOCUMENTS, Document) as documents, TableWriter(folder / ARTICLES, Article) as articles:
        for number, place, record in _records(parts, count):
            if isinstance(record, Deletion):
                continue
            counts.add(Reason.CITATIONS_READ)
            doc_id = record.document.doc_id
            if standing.deleted(doc_id):
                counts.add(Reason.CITATION_DELETED, doc_id)
                reasons[doc_id] = "deleted from PubMed"
            elif not standing.stands(record, number, place):
                counts.add(Reason.CITATION_SUPERSEDED, doc_id)
            elif not record.document.title and not record.document.abstract:
                counts.add(Reason.CITATION_WITHOUT_TEXT, doc_id)
                reasons[doc_id] = "neither title nor abstract"
            elif most is not None and written >= most:
                counts.add(Reason.CITATION_BEYOND_MAX, doc_id)
                reasons.pop(doc_id, None)
            else:
                documents.write([record.document])
                articles.write([record.article])
                reasons.pop(doc_id, None)
                written += 1
                counts.add(Reason.DOCUMENTS_WRITTEN)
                if record.article.abstract_source == OTHER_ABSTRACT:
                    counts.add(Reason.ABSTRACT_FROM_PUBLISHER, doc_id)
    return written


def _records(parts: FetchBatches, count: int) -> Iterator[tuple[int, int, Citation | Deletion]]:
    for number in range(count):
        for place, line in enumerate(parts.read(number)):
            yield number, place, from_line(line)
