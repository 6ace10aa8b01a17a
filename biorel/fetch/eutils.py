"""Asks NCBI's E-utilities for the PMIDs of a query (esearch) and for the articles of PMIDs (epost, then efetch)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from typing import Any

from lxml import etree

from biorel.counts import Counts, Reason
from biorel.errors import FetchError, InputError
from biorel.fetch.http import BadAnswerError, Client
from biorel.formats.pubmed import Citation, parse_pubmed, pmid_of
from biorel.formats.pubmed_versions import LatestVersions

BATCH = 200
MAX_LISTED = 9_999  # esearch does not list PubMed hits beyond this number
_PAGE = 5_000
# every article has exactly one date of entry into PubMed, so spans of dates partition the hits
_FIRST_DAY, _LAST_DAY = date(1800, 1, 1), date(2099, 12, 31)
_ROUNDS = 2
_COUNT = re.compile(r"\d{1,18}", re.ASCII)
_QUOTED = 160
_MAX_TREE = 2**20  # bytes of an answer that is parsed into one tree

Days = tuple[date, date]


@dataclass(frozen=True, slots=True)
class Hits:
    """One page of a search: the total number of hits, and the PMIDs of this page."""

    count: int
    pmids: list[str]


def search(client: Client, query: str, counts: Counts, limit: int | None = None) -> list[str]:
    """The PMIDs of a query, each once, in PubMed's order (the most recent first).

    If there are more hits than one search can list, the query is repeated for spans of entry dates.

    Args:
        client: the client of the E-utilities.
        query: the query in PubMed's query language.
        counts: receives the number of query words that PubMed did not find.
        limit: maximum number of PMIDs.

    Raises:
        FetchError: the service refuses the query, does not answer, or lists fewer PMIDs than it counts.
    """
    hits = _page(client, query, 0, 0, None, counts).count
    most = hits if limit is None else min(hits, limit)
    if most <= MAX_LISTED:
        return _collect(client, query, None, most)
    pmids: dict[str, None] = {}
    for days, count in _spans(client, query, (_FIRST_DAY, _LAST_DAY), hits):
        pmids.update(dict.fromkeys(_collect(client, query, days, min(count, most - len(pmids)))))
        if len(pmids) >= most:
            break
    if len(pmids) < most:
        raise FetchError(
            f"query {query!r}: PubMed counts {hits} articles but lists only {len(pmids)} by date", "try again later"
        )
    return list(pmids)[:most]


def fetch_articles(client: Client, pmids: Sequence[str]) -> list[Citation]:
    """The articles that PubMed has, in the order of `pmids`.

    Missing articles are requested a second time, as PubMed sometimes leaves articles out.

    Args:
        client: the client of the E-utilities.
        pmids: at most `BATCH`.

    Raises:
        FetchError: the service does not answer, or its answer is not PubMed XML.
    """
    found: dict[str, Citation] = {}
    for _ in range(_ROUNDS):
        rest = [pmid for pmid in pmids if pmid not in found]
        if rest:
            found |= client.repeat(f"PMIDs {rest[0]} to {rest[-1]}", partial(_fetch, client, rest))
    return [found[pmid] for pmid in pmids if pmid in found]


def _collect(client: Client, query: str, days: Days | None, most: int) -> list[str]:
    """The first `most` PMIDs, page by page. A page may have fewer PMIDs than requested."""
    pmids: dict[str, None] = {}
    start = 0
    while len(pmids) < most:
        page = _page(client, query, start, min(_PAGE, most - start), days, Counts())
        pmids.update(dict.fromkeys(page.pmids))
        start += len(page.pmids)
        # articles may be withdrawn between two requests
        most = min(most, page.count)
        if len(pmids) < most and (not page.pmids or start >= most):
            raise FetchError(
                f"query {query!r}: PubMed counts {most} articles but lists only {len(pmids)}", "try again later"
            )
    return list(pmids)[:most]


def _spans(client: Client, query: str, days: Days, count: int) -> Iterator[tuple[Days, int]]:
    """Yield spans of days with at most `MAX_LISTED` hits each, and the number of their hits; the latest span first."""
    if count <= MAX_LISTED:
        if count:
            yield days, count
        return
    first, last = days
    if first == last:
        raise FetchError(
            f"query {query!r}: {count} articles entered PubMed on {first}, but a search lists only {MAX_LISTED}",
            "make the query narrower, or read the baseline files with --baseline",
        )
    middle = first + timedelta(days=(last - first).days // 2)
    for half in ((middle + timedelta(days=1), last), (first, middle)):
        yield from _spans(client, query, half, _page(client, query, 0, 0, half, Counts()).count)


def _page(client: Client, query: str, start: int, size: int, days: Days | None, counts: Counts) -> Hits:
    parameters = {"db": "pubmed", "retmode": "json", "term": query, "retstart": str(start), "retmax": str(size)}
    if days:
        first, last = (f"{day:%Y/%m/%d}" for day in days)
        parameters |= {"datetype": "edat", "mindate": first, "maxdate": last}
    return client.ask("esearch.fcgi", parameters, lambda body: _hits(body, query, counts))


def _hits(body: bytes, query: str, counts: Counts) -> Hits:
    try:
        # error messages of the service contain raw line breaks
        content = json.loads(body, strict=False)
    except (ValueError, RecursionError) as error:
        raise BadAnswerError(f"not JSON ({str(error)[:80]})") from error
    result = content.get("esearchresult") if isinstance(content, dict) else None
    if not isinstance(result, dict):
        message = content.get("error", "") if isinstance(content, dict) else ""
        raise BadAnswerError(f"an answer without a result {' '.join(str(message).split())}".strip())
    if result.get("ERROR"):
        raise FetchError(f"PubMed refuses the query {query!r}: {' '.join(str(result['ERROR']).split())}")
    faults = result.get("errorlist")
    phrases = faults.get("phrasesnotfound") if isinstance(faults, dict) else None
    for phrase in phrases if isinstance(phrases, list) else ():
        counts.add(Reason.QUERY_WORDS_NOT_FOUND, str(phrase)[:_QUOTED])
    count, listed = str(result.get("count", "")), result.get("idlist")
    pmids = [pmid_of(str(item)) for item in listed] if isinstance(listed, list) else [None]
    if not _COUNT.fullmatch(count) or None in pmids:
        raise BadAnswerError("an answer without a count and a list of PMIDs")
    return Hits(int(count), [pmid for pmid in pmids if pmid is not None])


def _fetch(client: Client, pmids: Sequence[str]) -> dict[str, Citation]:
    """One try: post the list, fetch and parse it. The list is posted at each try, as the service may have lost it."""
    posted = _tree(client.once("epost.fcgi", {"db": "pubmed", "id": ",".join(pmids)}, post=True), "epost")
    session, key = posted.findtext("WebEnv"), posted.findtext("QueryKey")
    if not session or not key:
        if {item.text for item in posted.iterfind("InvalidIdList/Id")} >= set(pmids):
            return {}
        raise BadAnswerError(f"epost: {_error_text(posted) or 'no session'}")
    parameters = {"db": "pubmed", "WebEnv": session, "query_key": key, "retmode": "xml"}
    body = client.once("efetch.fcgi", parameters | {"retstart": "0", "retmax": str(len(pmids))})
    try:
        records = parse_pubmed(body, "efetch", Counts())
    except InputError as error:
        message = _error_text(_tree(body, "efetch")) if b"<ERROR" in body[:_MAX_TREE] else ""
        raise BadAnswerError(f"efetch: {message}" if message else error.message) from error
    # the answer may contain several versions of an article, and articles that were not requested
    citations, versions = [item for item in records if isinstance(item, Citation)], LatestVersions()
    for place, citation in enumerate(citations):
        versions.note(citation, 0, place)
    return {item.document.doc_id: item for place, item in enumerate(citations) if versions.is_current(item, 0, place)}


def _tree(body: bytes, place: str) -> Any:
    if len(body) > _MAX_TREE:
        raise BadAnswerError(f"{place}: the answer is too long ({len(body)} bytes)")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        return etree.fromstring(body, parser)
    except etree.XMLSyntaxError as error:
        raise BadAnswerError(f"{place}: not well-formed XML") from error


def _error_text(tree: Any) -> str:
    return " ".join(" ".join(item.text or "" for item in tree.iter("ERROR")).split())
