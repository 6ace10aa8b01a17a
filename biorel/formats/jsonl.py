"""Read JSON lines. Each line is one record: an abstract, optionally with its entities and relations.

    {"pmid": 227508, "title": "Naloxone reverses ...", "abstract": "In unanesthetized ..."}
    {"id": "a1", "text": "Naloxone reverses the effect of clonidine.",
     "entities": [{"start": 0, "end": 8, "type": "Chemical", "id": "D009270"}],
     "relations": [{"head": "D008750", "relation": "CID", "tail": "D007022"}]}      (all on one line)

A line that is not such a record becomes a `BadRecord` with its number and the reason; reading continues.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.formats.files import HALF_OF_PAIR, read_lines
from biorel.formats.identifiers import concept_ids, document_key, entity_type
from biorel.formats.references import Concept, concepts_of, distinct_curations, resolve, says_no_relation
from biorel.formats.spans import check_spans, without_repeats
from biorel.records import Annotated, BadRecord, Curation, Document, Mention

_ID_NAMES = ("pmid", "id", "doc_id")
# the end of a sentence before one space; a lower-case letter after it suggests an abbreviation
_TITLE_END = re.compile(r"""(?:(?<=[.!?])|(?<=[.!?][)"'\]])) (?=[^\sa-z])""")


class _FaultError(Exception):
    """The reason why a record cannot be used, as one sentence."""


def _no_constant(name: str) -> NoReturn:
    raise _FaultError(f"not JSON: {name} is not a JSON number")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)
_BLANKS = " \t\n\r"
_VALUE_BEGINNINGS = frozenset('{["-0123456789tfnNI')


def read_jsonl(path: Path, counts: Counts) -> Iterator[tuple[int, Annotated | BadRecord]]:
    """Yield (line number, record) for every non-blank line of a JSON-lines file, plain or gzip.

    Raises:
        InputError: the file cannot be read, is not UTF-8, or has only blank lines.
    """
    seen: set[int | str] = set()
    lines = 0
    for number, line in read_lines(path, counts):
        if not line.strip():
            continue
        lines += 1
        place = f"{path}:{number}"
        counts.add(Reason.RECORDS_READ)
        record = _record(number, line, seen, counts, place)
        if isinstance(record, BadRecord):
            counts.add(Reason.RECORD_UNUSABLE, f"{place}: {record.reason}")
        else:
            counts.add(Reason.DOCUMENTS_READ)
            seen.add(document_key(record.document.doc_id))
        yield number, record
    if not lines:
        raise InputError(f"{path}: there is no record in this file", "each line should hold one JSON object")


def _record(number: int, line: str, seen: set[int | str], counts: Counts, place: str) -> Annotated | BadRecord:
    doc_id = ""
    try:
        fields = _object(line)
        doc_id = _doc_id(fields)
        if document_key(doc_id) in seen:
            raise _FaultError(f"the id {doc_id} already occurs on an earlier line")
        document = _document(doc_id, fields)
        rows = [_entity(document, row) for row in _rows(fields, "entities", "mentions")]
        mentions = [mention for row in rows for mention in row]
        concepts = concepts_of(mentions)
        curations = [_curation(doc_id, row, concepts) for row in _rows(fields, "relations", "curations")]
    except _FaultError as fault:
        return BadRecord(number, doc_id, str(fault))
    positive = [curation for curation in curations if not says_no_relation(curation.relation)]
    if len(positive) < len(curations):
        counts.add(Reason.CURATION_NEGATIVE, place, len(curations) - len(positive))
    if rows:
        counts.add(Reason.ANNOTATIONS_READ, count=len(rows))
    if len(mentions) > len(rows):
        counts.add(Reason.MENTIONS_ADDED_SEVERAL_CONCEPTS, count=len(mentions) - len(rows))
    if curations:
        counts.add(Reason.RELATION_ROWS_READ, count=len(curations))
    checked = check_spans(document, mentions, counts, f"{place} {doc_id}")
    return Annotated(document, without_repeats(checked, counts, place), distinct_curations(positive, counts, place))


def _object(line: str) -> dict[str, Any]:
    start = _after_blanks(line, 0)
    if line[start] not in _VALUE_BEGINNINGS:
        # not left to the decoder: its exceptions would take most of the time with a file that is not JSON
        reason = "Unexpected UTF-8 BOM (decode using utf-8-sig)" if line[0] == "\ufeff" else "Expecting value"
        raise _FaultError(f"not JSON: {reason} at column {start + 1}")
    try:
        value, end = _DECODER.raw_decode(line, start)
    except json.JSONDecodeError as error:
        raise _FaultError(f"not JSON: {error.msg} at column {error.colno}") from error
    except ValueError as error:
        # a number has more digits than Python reads
        raise _FaultError(f"the JSON cannot be read: {error}") from error
    except RecursionError as error:
        raise _FaultError("the JSON is nested too deeply") from error
    end = _after_blanks(line, end)
    if end < len(line):
        raise _FaultError(f"not JSON: Extra data at column {end + 1}")
    if not isinstance(value, dict):
        raise _FaultError("not a JSON object")
    return value


def _after_blanks(line: str, at: int) -> int:
    return len(line) - len(line[at:].lstrip(_BLANKS))


def _doc_id(fields: dict[str, Any]) -> str:
    for name in _ID_NAMES:
        value = fields.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise _FaultError(f"{name} must be a string or a whole number")
        doc_id = _sound(str(value), name).strip()
        if doc_id:
            return doc_id
    raise _FaultError("no id: one of pmid, id or doc_id is needed")


def _document(doc_id: str, fields: dict[str, Any]) -> Document:
    title, abstract, text = (_text(fields, name) for name in ("title", "abstract", "text"))
    if not (title + abstract + text).strip():
        raise _FaultError("no text: a title, an abstract or a text is needed")
    if not text:
        return Document(doc_id, title, abstract)
    if title and not abstract and text.startswith(f"{title} "):
        abstract = text[len(title) + 1 :]
    if title or abstract:
        if f"{title} {abstract}".rstrip() != text.rstrip():
            raise _FaultError("title, abstract and text do not agree (text must be title, one space, abstract)")
        return Document(doc_id, title, abstract)
    return Document(doc_id, *cut_title(text))


def cut_title(text: str) -> tuple[str, str]:
    """Cut a text without a title into (title, abstract), at the first sentence end that a single space follows.

    Title and abstract joined by one space give the text again. If the text has no such sentence end, all of it is the
    title.
    """
    end = _TITLE_END.search(text)
    return (text[: end.start()], text[end.end() :]) if end else (text, "")


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _FaultError(f"{name} must be a string")
    return _sound(value, name)


def _sound(value: str, name: str) -> str:
    """Check that UTF-8 can hold the string: half of a surrogate pair is refused."""
    if HALF_OF_PAIR.search(value):
        raise _FaultError(f"{name} holds half of a surrogate pair, which is not a character")
    return value


def _rows(fields: dict[str, Any], *names: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (name for messages, object) for each object in a list. The list is the first field present of `names`."""
    name = next((name for name in names if fields.get(name) is not None), "")
    rows = fields.get(name, [])
    if not isinstance(rows, list):
        raise _FaultError(f"{name} must be a list")
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise _FaultError(f"{name}: item {number} is not an object")
        yield f"{name}: item {number}", row


def _entity(document: Document, numbered: tuple[str, dict[str, Any]]) -> list[Mention]:
    """The mentions of one entity row, one for each of its ids."""
    name, row = numbered
    start, end = _whole(row, "start"), _whole(row, "end")
    if start is None or end is None:
        raise _FaultError(f"{name} needs a start and an end that are whole numbers")
    text = _text(row, "text")
    # offsets in bytes may exceed the number of characters; `check_spans` repairs them if the mention has a text
    given = document.text if document.abstract else document.title
    limit = len(given.encode()) if text else len(given)
    if not 0 <= start < end <= limit:
        raise _FaultError(f"{name} has a span outside the text: {start}-{end}")
    if not _text(row, "type").strip():
        raise _FaultError(f"{name} has no type")
    type_ = entity_type(row["type"])
    raw = row.get("id", row.get("entity_id"))
    items = raw if isinstance(raw, list) else [raw]
    ids = dict.fromkeys(id_ for item in items for id_ in concept_ids(_id(item, name), type_))
    shown = text or given[start:end]
    return [Mention(document.doc_id, start, end, shown, type_, id_) for id_ in ids or (None,)]


def _curation(doc_id: str, numbered: tuple[str, dict[str, Any]], concepts: dict[str, Concept]) -> Curation:
    name, row = numbered
    words = (_text(row, key).strip() for key in ("relation", "type", "label"))
    relation = next((word for word in words if word), "")
    if not relation:
        raise _FaultError(f"{name} has no relation")
    head_id, head_type = _argument(row, "head", name, concepts)
    tail_id, tail_type = _argument(row, "tail", name, concepts)
    return Curation(doc_id, head_type, head_id, relation, tail_type, tail_id)


def _argument(row: dict[str, Any], side: str, name: str, concepts: dict[str, Concept]) -> Concept:
    value = row.get(side, row.get(f"{side}_id"))
    type_ = _text(row, f"{side}_type")
    if isinstance(value, dict):
        type_ = _text(value, "type") or type_
        value = value.get("id", value.get("entity_id"))
    concept = resolve(_id(value, f"{name}: {side}"), entity_type(type_), concepts)
    if concept is None:
        raise _FaultError(f"{name} has no {side} id")
    return concept


def _id(value: Any, name: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise _FaultError(f"{name} has an id that is neither a string nor a whole number")
    return _sound(str(value), name)


def _whole(row: dict[str, Any], name: str) -> int | None:
    value = row.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
