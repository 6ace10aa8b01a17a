r"""Read and write PubTator text: `PMID|t|title`, `PMID|a|abstract`, then tab-separated annotation and relation rows.

    227508|t|Naloxone reverses the antihypertensive effect of clonidine.
    227508|a|In unanesthetized, spontaneously hypertensive rats ...
    227508	0	8	Naloxone	Chemical	D009270
    227508	CID	D008750	D007022

A blank line ends a document, and so does a title line with another id. Offsets count from the start of the title; the
abstract begins one character after the end of the title.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from biorel.counts import Counts, Reason
from biorel.errors import ConfigError, InputError, OutputError
from biorel.formats.annotations import join_mentions
from biorel.formats.files import read_lines
from biorel.formats.identifiers import concept_id, concept_ids, entity_type, local_id
from biorel.formats.references import Concept, concepts_of, distinct_curations, resolve, says_no_relation
from biorel.formats.spans import check_spans, is_offset, refuse_all_lost, without_repeats
from biorel.records import Annotated, Curation, Document, Mention, Relation

# the text may contain pipes, so only the first two separate fields
_TEXT_LINE = re.compile(r"([^|\t]+)\|([ta])\|(.*)", re.DOTALL)
_MIN_ANNOTATION_FIELDS = 5
_QUOTED = 80
_MOST_LINES = 200_000  # in one document, which is held in memory


def read_pubtator(path: Path, counts: Counts) -> Iterator[Annotated]:
    """Yield the documents of a PubTator file, plain or gzip, in file order. Memory holds one at a time.

    Args:
        path: the file.
        counts: receives the documents, annotations and relation rows read, repaired and excluded.

    Raises:
        InputError: the file cannot be read, has no document, or has annotations of which none could be imported.
    """
    block: list[tuple[int, str]] = []
    block_id, documents, mentions = "", 0, 0
    annotations_before = counts[Reason.ANNOTATIONS_READ]
    for number, line in read_lines(path, counts):
        title = _TEXT_LINE.fullmatch(line)
        if not block and title is None:
            # not kept in memory: a file in another format may never have a title line
            if line.strip():
                counts.add(Reason.ROWS_READ)
                _bad_row(path, number, "no title line above it", counts)
            continue
        starts_next = title is not None and title[2] == "t" and title[1] != block_id
        if block and (not line.strip() or starts_next):
            for annotated in _document(path, block, counts):
                documents += 1
                mentions += len(annotated.mentions)
                yield annotated
            block, block_id = [], ""
        if line.strip() and len(block) >= _MOST_LINES:
            counts.add(Reason.ROWS_READ)
            _bad_row(path, number, f"too many lines under one title (more than {_MOST_LINES})", counts)
        elif line.strip():
            block.append((number, line))
            block_id = title[1] if starts_next and title else block_id
    if block:
        for annotated in _document(path, block, counts):
            documents += 1
            mentions += len(annotated.mentions)
            yield annotated
    if not documents:
        raise InputError(
            f"{path}: the file has no document in PubTator format",
            "a document begins with a line like '227508|t|Title'; use .xml or .json for BioC, .jsonl for records",
        )
    refuse_all_lost(path, counts[Reason.ANNOTATIONS_READ] - annotations_before, mentions)


def _document(path: Path, block: list[tuple[int, str]], counts: Counts) -> Iterator[Annotated]:
    """Yield the document in a block of lines. The block begins with a title or an abstract."""
    texts: dict[str, str] = {}
    doc_id = ""
    rows: list[tuple[int, str]] = []
    for number, line in block:
        text_line = _TEXT_LINE.fullmatch(line)
        if text_line:
            doc_id = text_line[1].strip()
            texts[text_line[2]] = text_line[3]
        else:
            rows.append((number, line))
    document = Document(doc_id, texts.get("t", ""), texts.get("a", ""))
    mentions: list[Mention] = []
    relations: list[list[str]] = []
    annotations = 0
    for number, line in rows:
        fields = [field.strip("\r") for field in line.split("\t")]
        if fields[0].strip() != doc_id:
            _bad_row(path, number, f"row with the id {fields[0][:_QUOTED]!r} under document {doc_id[:_QUOTED]}", counts)
        elif len(fields) >= _MIN_ANNOTATION_FIELDS and all(is_offset(part.strip()) for part in fields[1:3]):
            named = _mentions(doc_id, fields)
            mentions.extend(named)
            annotations += 1
            counts.add(Reason.ANNOTATIONS_READ)
            if len(named) > 1:
                counts.add(Reason.MENTIONS_ADDED_SEVERAL_CONCEPTS, count=len(named) - 1)
        elif len(fields) >= 4 and not fields[1].strip().isdecimal():
            relations.append(fields)
            counts.add(Reason.RELATION_ROWS_READ)
        else:
            _bad_row(path, number, "neither an annotation nor a relation", counts)
    counts.add(Reason.ROWS_READ, count=len(rows))
    counts.add(Reason.ROWS_KEPT, count=annotations + len(relations))
    counts.add(Reason.RECORDS_READ)
    counts.add(Reason.DOCUMENTS_READ)
    place = f"{path} {doc_id}"
    curations = distinct_curations(_curations(doc_id, relations, concepts_of(mentions), counts, place), counts, place)
    checked = check_spans(document, mentions, counts, place)
    yield Annotated(document, without_repeats(checked, counts, place), curations)


def _mentions(doc_id: str, fields: list[str]) -> list[Mention]:
    start, end, text, raw_type = int(fields[1]), int(fields[2]), fields[3], fields[4]
    type_ = entity_type(raw_type)
    raw_ids = fields[5] if len(fields) > _MIN_ANNOTATION_FIELDS else ""
    return [Mention(doc_id, start, end, text, type_, id_) for id_ in concept_ids(raw_ids, type_)]


def _curations(
    doc_id: str, rows: list[list[str]], concepts: dict[str, Concept], counts: Counts, place: str
) -> Iterator[Curation]:
    """The relation rows that name two concepts. The format does not give their types, so the types are empty."""
    for fields in rows:
        head, tail = (resolve(raw, "", concepts) for raw in fields[2:4])
        if says_no_relation(fields[1]):
            counts.add(Reason.CURATION_NEGATIVE, place)
        elif head and tail:
            yield Curation(doc_id, "", head[0], fields[1].strip(), "", tail[0])
        else:
            counts.add(Reason.CURATION_ARGUMENT_WITHOUT_CONCEPT, place)


def _bad_row(path: Path, number: int, why: str, counts: Counts) -> None:
    counts.add(Reason.ROW_MALFORMED, f"{path}:{number}: {why}")


# ---- writing
_BREAKS = re.compile(r"[\t\n\r\0]")
_DIGITS = 6


class PubtatorWriter:
    """A context manager that writes documents in PubTator format."""

    def __init__(self, path: Path) -> None:
        self._stream = path.open("w", encoding="utf-8", newline="\n")

    def write(self, document: Document | None, mentions: Sequence[Mention], relations: Sequence[Relation]) -> None:
        """Write one document: title, abstract, its mentions, its relations, a blank line.

        Raises:
            ConfigError: `document` is None.
            OutputError: the document id contains a character that separates fields in this format.
        """
        if document is None:
            raise ConfigError(
                "a PubTator file must contain the text of its documents, but no documents were given",
                "give --documents",
            )
        doc_id = document.doc_id
        if "|" in doc_id or _BREAKS.search(doc_id) or doc_id != doc_id.strip() or not doc_id:
            raise OutputError(f"document id {doc_id!r} cannot be written in PubTator format", "use --format bioc")
        self._stream.write(f"{doc_id}|t|{_line(document.title)}\n{doc_id}|a|{_line(document.abstract)}\n")
        for mark in join_mentions(mentions, _spelled):
            self._row(doc_id, str(mark.start), str(mark.end), mark.text, mark.type, mark.identifier)
        owners = _owners(mentions)
        for relation in relations:
            head, tail = _short_argument(relation.head.id, owners), _short_argument(relation.tail.id, owners)
            self._row(doc_id, relation.relation, head, tail, str(round(relation.score, _DIGITS)))
        self._stream.write("\n")

    def _row(self, *cells: str) -> None:
        self._stream.write("\t".join(map(_line, cells)) + "\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()


def _line(text: str) -> str:
    """The text on one line. Its length does not change."""
    return _BREAKS.sub(" ", text)


def _spelled(id_: str, type_: str) -> str:
    """The id of a mention. The namespace is left out if PubTator omits it and the entity type implies it."""
    local = local_id(id_)
    return local if concept_id(local, type_) == id_ else id_


def _owners(mentions: Iterable[Mention]) -> Mapping[str, set[str]]:
    """A mapping from each id without its namespace to the full ids of the mentions."""
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for mention in mentions:
        if mention.entity_id:
            owners[mention.entity_id.partition(":")[2] or mention.entity_id].add(mention.entity_id)
    return owners


def _short_argument(id_: str, owners: Mapping[str, set[str]]) -> str:
    """The id of an argument. Relation rows have no types, so the namespace is kept if the id is ambiguous without."""
    local = local_id(id_)
    return local if concept_id(local, "") == id_ or owners.get(local) == {id_} else id_
