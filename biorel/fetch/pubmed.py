"""Fetches PubMed's articles in batches or reads them from baseline files, and writes them as tables.

All articles are first kept in batches, one for each request or file. A killed command can therefore resume, and the
versions of an article are compared before the tables are written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.fetch.batches import PMIDS, FetchBatches
from biorel.fetch.eutils import BATCH, fetch_articles, search
from biorel.fetch.http import Client
from biorel.formats.pmids import read_pmids, write_pmids
from biorel.formats.pubmed import OTHER_ABSTRACT, Citation, Deletion, from_line, read_pubmed, to_line
from biorel.formats.pubmed_versions import LatestVersions
from biorel.records import Article, Document
from biorel.tables import TableWriter

DOCUMENTS, ARTICLES = "documents.parquet", "articles.parquet"
SEARCHED = "searched.json"

Progress = Callable[[str], None]


def search_once(
    folder: Path, batches: FetchBatches, client: Client, query: str, limit: int | None, counts: Counts
) -> list[str]:
    """The PMIDs of a query, and the beginning of the request for their articles.

    PMIDs and counts are kept in `folder`, so that a resumed command does not search again.

    Args:
        folder: the output folder.
        batches: the batches in the output folder.
        client: the client of the E-utilities.
        query: the query in PubMed's query language.
        limit: maximum number of PMIDs.
        counts: counts words that PubMed did not find.

    Raises:
        InputError: no article matches.
        FetchError: as for `eutils.search`.
    """
    request = {"url": client.service.url, "query": query, "max": limit, "pmids": ""}
    if batches.holds(request):
        kept = json.loads((folder / SEARCHED).read_text(encoding="utf-8"))
        counts.include(Counts.of(kept["counts"], kept["examples"]))
        return read_pmids([folder / PMIDS], Counts())[0]
    searched = Counts()
    pmids = search(client, query, searched, limit)
    if not pmids:
        raise InputError(
            f"no article of PubMed matches the query {query!r}", "try the query at pubmed.ncbi.nlm.nih.gov"
        )
    batches.discard()
    write_pmids(folder / PMIDS, pmids)
    kept = {"counts": searched.by_reason, "examples": searched.examples}
    (folder / SEARCHED).write_text(json.dumps(kept), encoding="utf-8")
    # last: from here on the files belong to this request
    batches.begin(request)
    counts.include(searched)
    return pmids


def fetch_batches(
    batches: FetchBatches, pmids: Sequence[str], client: Client, progress: Progress, *, incomplete: bool
) -> dict[str, str]:
    """Fetch the articles of these PMIDs; returns the PMIDs of failed batches, each with the reason.

    Raises:
        FetchError: as for `FetchBatches.fetch_pmids`.
    """

    def fetch(batch: Sequence[str]) -> list[str]:
        return [to_line(article) for article in fetch_articles(client, batch)]

    return batches.fetch_pmids(pmids, BATCH, fetch, progress, incomplete=incomplete)


def read_baseline(
    batches: FetchBatches, files: Sequence[Path], wanted: Collection[str] | None, progress: Progress
) -> None:
    """Read baseline and update files, one batch for each.

    Args:
        batches: the batches in the output folder.
        files: the files, in the order of `pubmed_versions.baseline_files`.
        wanted: PMIDs of the articles to keep; None for all.
        progress: receives a line for each file.

    Raises:
        InputError: a file cannot be read.
    """

    def lines(number: int) -> Iterator[str]:
        for record in read_pubmed(files[number], Counts()):
            doc_id = record.doc_id if isinstance(record, Deletion) else record.document.doc_id
            if wanted is None or doc_id in wanted:
                yield to_line(record)

    batches.fetch(len(files), lines, progress)


def write_tables(
    folder: Path,
    batches: FetchBatches,
    versions: LatestVersions,
    reasons: dict[str, str],
    counts: Counts,
    limit: int | None,
) -> int:
    """Write the latest versions of the articles in the batches; returns their number.

    Args:
        folder: the output folder.
        batches: contain the articles.
        versions: collects the versions of the articles in these batches; empty at first.
        reasons: by PMID, why an article is missing. Written articles are removed from the mapping, excluded ones are
            added.
        counts: counts articles read, excluded and written.
        limit: maximum number of articles to write.
    """
    for number, place, record in _records(batches):
        versions.note(record, number, place)
    written = 0
    with TableWriter(folder / DOCUMENTS, Document) as documents, TableWriter(folder / ARTICLES, Article) as articles:
        for number, place, record in _records(batches):
            if isinstance(record, Deletion):
                continue
            counts.add(Reason.CITATIONS_READ)
            doc_id = record.document.doc_id
            if versions.deleted(doc_id):
                counts.add(Reason.CITATION_DELETED, doc_id)
                reasons[doc_id] = "deleted from PubMed"
            elif not versions.is_current(record, number, place):
                counts.add(Reason.CITATION_SUPERSEDED, doc_id)
            elif not record.document.title and not record.document.abstract:
                counts.add(Reason.CITATION_WITHOUT_TEXT, doc_id)
                reasons[doc_id] = "neither title nor abstract"
            elif limit is not None and written >= limit:
                counts.add(Reason.CITATION_BEYOND_MAX, doc_id)
                reasons.pop(doc_id, None)
            else:
                documents.write([record.document])
                articles.write([record.article])
                reasons.pop(doc_id, None)
                written += 1
                counts.add(Reason.CITATIONS_KEPT)
                counts.add(Reason.DOCUMENTS_WRITTEN)
                if record.article.abstract_source == OTHER_ABSTRACT:
                    counts.add(Reason.ABSTRACT_FROM_PUBLISHER, doc_id)
    return written


def _records(batches: FetchBatches) -> Iterator[tuple[int, int, Citation | Deletion]]:
    for number, place, line in batches.read():
        yield number, place, from_line(line)
