"""Read PubMed XML from efetch, baseline files and update files.

Each labelled part of a structured abstract becomes `LABEL: text`, and the parts are joined by single spaces. PubTator
does the same, so offsets agree. The text of inline tags is kept. Line breaks are layout and become spaces, except
before a subscript or superscript, which belongs to the preceding word.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biorel.counts import Counts, Reason
from biorel.formats.xml_stream import read_elements, stream_elements
from biorel.records import Article, Document

ABSTRACT, OTHER_ABSTRACT, NO_ABSTRACT = "abstract", "other abstract", "none"
_ROOTS = ("PubmedArticleSet", "MedlineCitationSet")
_CHILDREN = ("PubmedArticle", "PubmedBookArticle", "MedlineCitation", "DeleteCitation", "DeleteDocument")
_LINE_BREAK = re.compile("[ \t]*[\r\n\x85\u2028\u2029][ \t\r\n]*|\t+")
_LAYOUT_AT_END = re.compile(r"[ \t]*[\r\n]\s*$")
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)", re.ASCII)
_VERSION = re.compile(r"\d{1,9}", re.ASCII)
_PMID = re.compile(r"0*([1-9]\d{0,17})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Citation:
    """One version of one article; `revised` is its date of revision as YYYYMMDD, or empty."""

    document: Document
    article: Article
    revised: str = ""


@dataclass(frozen=True, slots=True)
class Deletion:
    """A PMID that an update file deletes."""

    doc_id: str


def read_pubmed(path: Path, counts: Counts) -> Iterator[Citation | Deletion]:
    """Yield the citations and deletions of a PubMed XML file, plain or gzip, in file order. Memory holds one at a time.

    Args:
        path: the file.
        counts: receives the number of citations without a PMID.

    Raises:
        InputError: the file cannot be read, is truncated, or is another kind of XML (such as PMC full text).
    """
    for element in read_elements(path, "PubMed", _ROOTS, _CHILDREN):
        yield from _records(element, counts, str(path))


def parse_pubmed(content: bytes, place: str, counts: Counts) -> list[Citation | Deletion]:
    """The citations and deletions in an efetch response. `place` is the name of the response in messages.

    Raises:
        InputError: see `read_pubmed`.
    """
    elements = stream_elements(io.BytesIO(content), place, "PubMed", _ROOTS, _CHILDREN)
    return [record for element in elements for record in _records(element, counts, place)]


def pmid_of(raw: str) -> str | None:
    """A PMID as PubMed writes it, without leading zeros; None if the text is not a PMID."""
    match = _PMID.fullmatch(raw.strip())
    return match[1] if match else None


def to_line(record: Citation | Deletion) -> str:
    """A record as one line of JSON."""
    if isinstance(record, Deletion):
        return json.dumps({"deleted": record.doc_id})
    article = record.article
    texts = [record.document.doc_id, record.document.title, record.document.abstract]
    return json.dumps([*texts, article.year, article.version, article.abstract_source, record.revised])


def from_line(line: str) -> Citation | Deletion:
    """The record on a line that `to_line` wrote."""
    content = json.loads(line)
    if isinstance(content, dict):
        return Deletion(content["deleted"])
    doc_id, title, abstract, year, version, source, revised = content
    return Citation(Document(doc_id, title, abstract), Article(doc_id, year, version, source), revised)


def _records(element: Any, counts: Counts, place: str) -> Iterator[Citation | Deletion]:
    if element.tag in ("DeleteCitation", "DeleteDocument"):
        for raw in element.iterfind("PMID"):
            doc_id = pmid_of(raw.text or "")
            if doc_id:
                yield Deletion(doc_id)
            else:
                counts.add(Reason.RECORDS_READ)
                counts.add(Reason.RECORD_WITHOUT_PMID, place)
        return
    # direct children only: the ids of cited and corrected articles are deeper in the tree
    body = element if element.tag == "MedlineCitation" else element.find("MedlineCitation")
    if body is None:
        body = element.find("BookDocument")
    raw = body.find("PMID") if body is not None else None
    doc_id = pmid_of(raw.text or "") if raw is not None else None
    if body is None or raw is None or doc_id is None:
        counts.add(Reason.RECORDS_READ)
        counts.add(Reason.RECORD_WITHOUT_PMID, place)
        return
    holder, published = _article_of(body)
    abstract, source = _abstract(body, holder)
    version = raw.get("Version", "1")
    yield Citation(
        Document(doc_id, _title(body, holder), abstract),
        Article(doc_id, _year(published), int(version) if _VERSION.fullmatch(version) else 1, source),
        _date(body.find("DateRevised")),
    )


def _article_of(body: Any) -> tuple[Any, Any]:
    """The element that holds title and abstract (an Article, or the BookDocument itself), and the publication date."""
    if body.tag == "BookDocument":
        published = body.find("Book/PubDate")
        return body, published if published is not None else body.find("ContributionDate")
    return body.find("Article"), body.find("Article/Journal/JournalIssue/PubDate")


def _title(body: Any, holder: Any) -> str:
    if holder is None:
        return ""
    for tag in ("ArticleTitle", "VernacularTitle", "Book/BookTitle"):
        found = holder.find(tag)
        text = _text(found) if found is not None else ""
        if text:
            return text
    return ""


def _abstract(body: Any, holder: Any) -> tuple[str, str]:
    """The abstract, and its source as in `Article.abstract_source`.

    An OtherAbstract element is used only if the article has no abstract, and only if the element's language is English,
    which is the default.
    """
    own = holder.find("Abstract") if holder is not None else None
    text = _joined(own) if own is not None else ""
    if text:
        return text, ABSTRACT
    for other in body.iterfind("OtherAbstract"):
        text = _joined(other) if other.get("Language", "eng") == "eng" else ""
        if text:
            return text, OTHER_ABSTRACT
    return "", NO_ABSTRACT


def _joined(abstract: Any) -> str:
    parts = []
    for part in abstract.iterfind("AbstractText"):
        text, label = _text(part), part.get("Label", "").strip()
        if text:
            parts.append(f"{label}: {text}" if label else text)
    return " ".join(parts)


def _text(element: Any) -> str:
    """All text of an element on one line."""
    return _LINE_BREAK.sub(" ", _flat(element)).strip()


def _flat(element: Any) -> str:
    text = element.text or ""
    for child in element:
        if child.tag in ("sub", "sup"):
            text = _LAYOUT_AT_END.sub("", text)
        text += _flat(child) + (child.tail or "")
    return text


def _year(published: Any) -> int | None:
    """The first year in a date, or None. The date may be a Year element, text (`1998 Dec-1999 Jan`), or missing."""
    if published is None:
        return None
    for tag in ("Year", "MedlineDate"):
        match = _YEAR.search(published.findtext(tag) or "")
        if match:
            return int(match[0])
    return None


def _date(element: Any) -> str:
    if element is None:
        return ""
    year, month, day = (element.findtext(tag, "") for tag in ("Year", "Month", "Day"))
    return f"{year:0>4}{month:0>2}{day:0>2}" if (year + month + day).isdecimal() else ""
