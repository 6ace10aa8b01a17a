"""PubTator3's export of annotated abstracts: BioC JSON or PubTator text, for up to 100 PMIDs a call."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Literal

from biorel.errors import FetchError
from biorel.fetch.http import BadAnswerError, Client
from biorel.formats.pubmed import pmid_of

BATCH = 100
BIOC, PUBTATOR = "biocjson", "pubtator"
Format = Literal["biocjson", "pubtator"]
_ROUNDS = 2
_TITLE = re.compile(r"(\d+)\|t\|")
_TEXT_OR_ROW = re.compile(r"\d+(?:\|[ta]\||\t)")


def export(client: Client, pmids: Sequence[str], format_: Format) -> dict[str, list[str]]:
    """The annotated abstracts that the service has, by PMID, in the order asked for.

    What is missing is asked for once more. Documents that nobody asked for are left out.

    Args:
        client: of the PubTator3 API.
        pmids: at most `BATCH`.
        format_: `biocjson` gives one line of JSON for each, `pubtator` the lines of its block.

    Raises:
        FetchError: the service does not answer, or not in this format.
    """
    found: dict[str, list[str]] = {}
    for _ in range(_ROUNDS):
        rest = [pmid for pmid in pmids if pmid not in found]
        if rest:
            documents = client.ask(f"publications/export/{format_}", {"pmids": ",".join(rest)}, _READERS[format_])
            found |= {pmid: documents[pmid] for pmid in rest if pmid in documents}
    return {pmid: found[pmid] for pmid in pmids if pmid in found}


def _bioc_documents(body: bytes) -> dict[str, list[str]]:
    """The documents of `{"PubTator3": [...]}`, or of JSON lines, as PubTator Central sent them; the first of a PMID."""
    if not body.strip():
        return {}
    try:
        values = [json.loads(body)]
    except RecursionError as error:
        raise BadAnswerError("nested too deeply") from error
    except ValueError as whole:
        try:
            values = [json.loads(line) for line in body.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            raise BadAnswerError(f"not JSON ({str(whole)[:80]})") from whole
    documents: dict[str, list[str]] = {}
    for value in values:
        for document in _listed(value):
            pmid = pmid_of(str(document.get("pmid") or document.get("id") or ""))
            if pmid is None or not isinstance(document.get("passages"), list):
                raise BadAnswerError("a document without PMID or passages")
            line = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
            # a half of a surrogate pair is no character, and cannot be written as UTF-8
            documents.setdefault(pmid, [line.encode("utf-8", "replace").decode("utf-8")])
    return documents


def _listed(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict) and "passages" in value:
        return [value]
    documents = value.get("PubTator3", value.get("documents")) if isinstance(value, dict) else value
    if not isinstance(documents, list) or not all(isinstance(item, dict) for item in documents):
        said = " ".join(str(value)[:120].split())
        raise FetchError(f"the service answers {said} instead of documents")
    return documents


def _pubtator_documents(body: bytes) -> dict[str, list[str]]:
    """The blocks of PubTator text; the first of a PMID."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadAnswerError("not UTF-8") from error
    documents: dict[str, list[str]] = {}
    lines: list[str] = []
    # a Unicode line separator inside an abstract ends no line
    for raw in text.split("\n"):
        line = raw.removesuffix("\r")
        title = _TITLE.match(line)
        if title:
            pmid = pmid_of(title[1]) or title[1]
            lines = []
            documents.setdefault(pmid, lines)
        elif line.strip() and not (documents and _TEXT_OR_ROW.match(line)):
            raise BadAnswerError(f"no PubTator text ({line[:60]!r})")
        if line.strip():
            lines.append(line)
    return documents


_READERS: dict[str, Callable[[bytes], dict[str, list[str]]]] = {
    BIOC: _bioc_documents,
    PUBTATOR: _pubtator_documents,
}
