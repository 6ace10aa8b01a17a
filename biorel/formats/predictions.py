"""Read predictions for scoring. A file holds relation rows, mentions, or both.

A malformed relation row is read as a row of empty ids. It is no error, because it lowers the score.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.formats.documents import read_documents
from biorel.formats.files import HALF_OF_PAIR, read_head, read_lines
from biorel.formats.identifiers import concept_id
from biorel.formats.references import says_no_relation
from biorel.records import Mention, Relation
from biorel.tables import read_by_document, read_table

_PARQUET_MAGIC = b"PAR1"
MENTIONS = "mentions.parquet"
# document, head, relation, tail
FactRow = tuple[str, str, str, str]
_NO_ROW: FactRow = ("", "", "", "")


@dataclass(frozen=True)
class Predictions:
    """The predictions in a file. A field is None if the file has no such predictions.

    Attributes:
        facts: relation rows in file order, including repeated and malformed ones (empty ids).
        mentions: the mentions of each document, by document id.
    """

    facts: tuple[FactRow, ...] | None = None
    mentions: dict[str, tuple[Mention, ...]] | None = field(default=None)


def read_predictions(path: Path, counts: Counts) -> Predictions:
    """Read relations that `biorel extract` wrote (JSONL, Parquet), or mentions (Parquet, or documents of any format).

    For a folder, the file mentions.parquet in it is read. Documents with relation rows give both relations and
    mentions.

    Raises:
        InputError: the file cannot be read, or none of its rows is usable.
    """
    if path.is_dir():
        path = path / MENTIONS
    head = read_head(path)
    if head.startswith(_PARQUET_MAGIC):
        return _from_parquet(path)
    if not head.strip() or _is_relation(head):
        return Predictions(facts=tuple(_facts(path, counts)))
    mentions: dict[str, tuple[Mention, ...]] = {}
    facts: list[FactRow] = []
    for annotated in read_documents([path], counts):
        mentions[annotated.document.doc_id] = annotated.mentions
        facts += [(row.doc_id, row.head_id, row.relation, row.tail_id) for row in annotated.curations]
    return Predictions(tuple(facts) if facts else None, mentions)


def _is_relation(head: bytes) -> bool:
    """Whether one of the first lines is an object with the keys of a relation's two arguments."""
    for line in head.split(b"\n"):
        try:
            values = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(values, dict) and "head" in values and "tail" in values:
            return True
    return False


def _facts(path: Path, counts: Counts) -> Iterator[FactRow]:
    rows = sound = 0
    for number, line in read_lines(path, counts):
        if line.strip():
            fact = _fact(line)
            rows += 1
            counts.add(Reason.ROWS_READ)
            counts.add(
                Reason.ROW_MALFORMED if fact == _NO_ROW else Reason.ROWS_KEPT,
                f"{path}:{number}" if fact == _NO_ROW else "",
            )
            if fact != _NO_ROW:
                counts.add(Reason.RELATION_ROWS_READ)
            if says_no_relation(fact[2]):
                sound += 1
                counts.add(Reason.CURATION_NEGATIVE, f"{path}:{number}")
                continue
            if fact != _NO_ROW:
                sound += 1
                counts.add(Reason.CURATIONS_KEPT)
            yield fact
    if rows and not sound:
        raise InputError(
            f"{path}: the file has no relations", "relations should have the form that biorel extract writes"
        )


def _fact(line: str) -> FactRow:
    """The fact on a line. If the document, head or tail is missing, all parts of the fact are empty."""
    try:
        values = json.loads(line)
        doc_id = values.get("doc_id") or values.get("pmid") or ""
        head, tail = _end(values["head"]), _end(values["tail"])
        relation = values.get("relation") or ""
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return _NO_ROW
    if not isinstance(relation, str):
        return _NO_ROW
    fact = (_id(doc_id), head, relation.strip(), tail)
    return fact if fact[0] and head and tail and not HALF_OF_PAIR.search("".join(fact)) else _NO_ROW


def _id(value: Any) -> str:
    """An id as text; empty for values that cannot be ids (a float, true)."""
    return str(value).strip() if isinstance(value, int | str) and not isinstance(value, bool) else ""


def _end(value: Any) -> str:
    """The normalised id of an argument. The argument is an object or the id itself; a missing one gives an empty id."""
    raw, type_ = (value.get("id"), value.get("type")) if isinstance(value, dict) else (value, "")
    return concept_id(_id(raw), str(type_ or "")) or ""


def _from_parquet(path: Path) -> Predictions:
    try:
        mentions = read_by_document(path, Mention)
        return Predictions(mentions={doc_id: tuple(found) for doc_id, found in mentions.items()})
    except InputError:
        # a table of mentions, then; if it is not, the error names the columns that were found
        rows: list[Any] = list(read_table(path, Relation))
    return Predictions(facts=tuple((row.doc_id, _end(row.head), row.relation, _end(row.tail)) for row in rows))
