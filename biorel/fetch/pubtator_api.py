"""Fetches annotated abstracts from PubTator3, as BioC JSON or PubTator text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from biorel.counts import Counts, Reason
from biorel.errors import FetchError
from biorel.fetch.batches import FetchBatches, digest_of
from biorel.fetch.http import BadAnswerError, Client
from biorel.formats.pubmed import pmid_of

BATCH = 100  # PMIDs per request
BIOC, PUBTATOR = "biocjson", "pubtator"
Format = Literal["biocjson", "pubtator"]
_ROUNDS = 2
_TITLE = re.compile(r"(\d+)\|t\|")
_TEXT_OR_ROW = re.compile(r"\d+(?:\|[ta]\||\t)")


def export(client: Client, pmids: Sequence[str], format_: Format) -> dict[str, list[str]]:
    """The annotated abstracts that the service has, by PMID, in the order of `pmids`.

    Missing documents are requested a second time. Documents that were not requested are left out.

    Args:
        client: the client of the PubTator3 API.
        pmids: at most `BATCH` PMIDs.
        format_: `biocjson` gives one line of JSON for each document, `pubtator` gives the lines of its block.

    Raises:
        FetchError: the service does not answer, or its answer is not in this format.
    """
    found: dict[str, list[str]] = {}
    for _ in range(_ROUNDS):
        rest = [pmid for pmid in pmids if pmid not in found]
        if rest:
            documents = client.ask(f"publications/export/{format_}", {"pmids": ",".join(rest)}, _READERS[format_])
            found |= {pmid: documents[pmid] for pmid in rest if pmid in documents}
    return {pmid: found[pmid] for pmid in pmids if pmid in found}


def fetch_export(
    path: Path,
    pmids: Sequence[str],
    format_: Format,
    client: Client,
    counts: Counts,
    progress: Callable[[str], None],
    *,
    incomplete: bool,
) -> dict[str, str]:
    """Fetch the documents into one file; returns each PMID without a document, with the reason.

    The batches are kept in the folder of the file until all of them are fetched.

    Args:
        path: the path of the file.
        pmids: the PMIDs of the documents.
        format_: the format of both the answer and the file.
        client: the client of the PubTator3 API.
        counts: counts the documents.
        progress: receives a line for each batch.
        incomplete: whether to accept failed batches.

    Raises:
        FetchError: as for `FetchBatches.fetch_pmids`.
    """
    batches = FetchBatches(path.parent)
    batches.resume_or_begin({"url": client.service.url, "format": format_, "pmids": digest_of(pmids)})

    def fetch(batch: Sequence[str]) -> list[str]:
        # each PMID precedes its lines, so that the missing ones are known from the batches alone
        return [line for pmid, lines in export(client, batch, format_).items() for line in (f"#{pmid}", *lines)]

    failed = batches.fetch_pmids(pmids, BATCH, fetch, progress, incomplete=incomplete)
    missing = dict.fromkeys(pmids, "not returned by PubTator") | failed
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for _, _, line in batches.read():
            if line.startswith("#"):
                if format_ != BIOC and len(missing) < len(pmids):
                    out.write("\n")
                del missing[line[1:]]
                counts.add(Reason.DOCUMENTS_WRITTEN)
            else:
                out.write(f"{line}\n")
    batches.discard()
    return missing


def _bioc_documents(body: bytes) -> dict[str, list[str]]:
    """The documents of `{"PubTator3": [...]}`, or of PubTator Central's JSON lines; of each PMID only the first."""
    if not body.strip():
        return {}
    try:
        values = [json.loads(body)]
    except RecursionError as error:
        raise BadAnswerError("the JSON is nested too deeply") from error
    except ValueError as whole:
        try:
            values = [json.loads(line) for line in body.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            raise BadAnswerError(f"not JSON ({str(whole)[:80]})") from whole
    documents: dict[str, list[str]] = {}
    for value in values:
        for document in _document_list(value):
            pmid = pmid_of(str(document.get("pmid") or document.get("id") or ""))
            if pmid is None or not isinstance(document.get("passages"), list):
                raise BadAnswerError("a document without PMID or passages")
            line = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
            # half of a surrogate pair cannot be encoded as UTF-8
            documents.setdefault(pmid, [line.encode("utf-8", "replace").decode("utf-8")])
    return documents


def _document_list(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict) and "passages" in value:
        return [value]
    documents = value.get("PubTator3", value.get("documents")) if isinstance(value, dict) else value
    if not isinstance(documents, list) or not all(isinstance(item, dict) for item in documents):
        answer = " ".join(str(value)[:120].split())
        raise FetchError(f"the service answers {answer} instead of documents")
    return documents


def _pubtator_documents(body: bytes) -> dict[str, list[str]]:
    """The blocks of PubTator text; of each PMID only the first."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadAnswerError("not UTF-8") from error
    documents: dict[str, list[str]] = {}
    lines: list[str] = []
    # not splitlines: a Unicode line separator in an abstract does not end the line
    for raw in text.split("\n"):
        line = raw.removesuffix("\r")
        title = _TITLE.match(line)
        if title:
            pmid = pmid_of(title[1]) or title[1]
            lines = []
            documents.setdefault(pmid, lines)
        elif line.strip() and not (documents and _TEXT_OR_ROW.match(line)):
            raise BadAnswerError(f"not PubTator text ({line[:60]!r})")
        if line.strip():
            lines.append(line)
    return documents


_READERS: dict[str, Callable[[bytes], dict[str, list[str]]]] = {
    BIOC: _bioc_documents,
    PUBTATOR: _pubtator_documents,
}
