"""Read BioC documents: title and abstract from passages, mentions from annotations, curations from relations.

BioC counts offsets from the start of the document. But files differ in the characters between passages, in the
passages that they leave out, and in the unit of their offsets. So the reader places every piece of text in the
document separately, together with the annotations of that piece.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bioc import BioCAnnotation, BioCDocument, BioCPassage

from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.formats.bioc.infons import annotated_concepts, curations, infon_text
from biorel.formats.bioc.parse import parse_bioc
from biorel.formats.references import concepts_of, distinct_curations
from biorel.formats.spans import check_spans, refuse_all_lost, without_repeats
from biorel.records import Annotated, Document, Mention


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of text: its offset in the file, its offset in `Document.text`, and its annotations."""

    text: str
    offset: int
    place: int
    annotations: list[BioCAnnotation] = field(default_factory=list)


def read_bioc(path: Path, counts: Counts) -> Iterator[Annotated]:
    """Yield the documents of a BioC file, XML or JSON, plain or gzip, in file order.

    Args:
        path: the file; `parse.parse_bioc` lists the accepted forms.
        counts: receives the documents, annotations and relations read, repaired and excluded.

    Raises:
        InputError: the file cannot be read, is not BioC, has no document, or has annotations of which none could be
            imported.
    """
    documents = mentions = 0
    annotations_before = counts[Reason.ANNOTATIONS_READ]
    for document in parse_bioc(path, counts):
        counts.add(Reason.RECORDS_READ)
        if not document.id.strip():
            counts.add(Reason.RECORD_WITHOUT_ID, str(path))
            continue
        annotated = _annotated(document, path, counts)
        documents += 1
        mentions += len(annotated.mentions)
        yield annotated
    if not documents:
        raise InputError(f"{path}: no document with an id in this BioC file", "check that the collection is not empty")
    refuse_all_lost(path, counts[Reason.ANNOTATIONS_READ] - annotations_before, mentions)


def _annotated(source: BioCDocument, path: Path, counts: Counts) -> Annotated:
    doc_id = source.id.strip()
    place = f"{path} {doc_id}"
    title, abstract, pieces = _layout(source)
    named: list[Mention] = []
    kept: list[Mention] = []
    for piece in pieces:
        marked: list[Mention] = []
        for annotation in piece.annotations:
            marked += _mentions(doc_id, annotation, piece, counts, place)
        named += marked
        # offsets may count bytes or UTF-16 units, which only the piece of text that they refer to can show
        checked = check_spans(Document(doc_id, piece.text, ""), marked, counts, place)
        kept += [_shifted(mention, piece.place) for mention in checked]
    counts.add(Reason.DOCUMENTS_READ)
    by_id = {annotation.id: annotation for piece in pieces for annotation in piece.annotations}
    relations = [*source.relations, *(relation for part in _parts(source) for relation in part.relations)]
    found = curations(doc_id, relations, by_id, concepts_of(named), counts, place)
    return Annotated(
        Document(doc_id, title, abstract),
        without_repeats(kept, counts, place),
        distinct_curations(found, counts, place),
    )


def _shifted(mention: Mention, by: int) -> Mention:
    return replace(mention, start=mention.start + by, end=mention.end + by)


def _parts(source: BioCDocument) -> Iterator[Any]:
    """Passages and their sentences."""
    for passage in source.passages:
        yield passage
        yield from passage.sentences


def _layout(source: BioCDocument) -> tuple[str, str, list[_Piece]]:
    """The title, the abstract, and the pieces of text that make up both, in order.

    Pieces are joined by one space, like title and abstract. An annotation of the document itself, or of a passage
    whose text is in its sentences, belongs to the last piece that begins before the annotation.
    """
    titles, rest = _title_and_rest(source.passages)
    title = " ".join(text for passage in titles for text, _, _ in _texts(passage))
    pieces: list[_Piece] = []
    loose = list(source.annotations)
    for passages, begin in ((titles, 0), (rest, len(title) + 1)):
        place = begin
        for passage in passages:
            for text, offset, marks in _texts(passage):
                pieces.append(_Piece(text, place if offset is None else offset, place, list(marks)))
                place += len(text) + 1
            if not passage.text:
                loose += passage.annotations
    abstract = " ".join(piece.text for piece in pieces if piece.place > len(title))
    if loose and not pieces:
        pieces.append(_Piece("", 0, 0))
    for annotation in loose:
        start = min((span.offset for span in annotation.locations), default=0)
        before = [piece for piece in pieces if piece.offset <= start]
        max(before or pieces[:1], key=lambda piece: piece.offset).annotations.append(annotation)
    return title, abstract, pieces


def _title_and_rest(passages: list[BioCPassage]) -> tuple[list[BioCPassage], list[BioCPassage]]:
    """The title passages and the other passages. An unmarked first passage is the title if none is marked."""
    for passage in passages:
        marks = {infon_text(passage, "type").lower(), infon_text(passage, "section_type").lower()}
        if marks & {"title", "front"}:
            return [passage], [other for other in passages if other is not passage]
    first = passages[:1]
    if first and not infon_text(first[0], "type") and not infon_text(first[0], "section_type"):
        return first, passages[1:]
    return [], passages


def _texts(passage: BioCPassage) -> Iterator[tuple[str, int | None, list[BioCAnnotation]]]:
    """Yield (text, offset, annotations) of the passage, or of each of its sentences if the sentences hold the text."""
    if passage.text:
        on_sentences = (item for sentence in passage.sentences for item in sentence.annotations)
        yield passage.text, passage.offset, [*passage.annotations, *on_sentences]
    else:
        for sentence in passage.sentences:
            if sentence.text or sentence.annotations:
                yield sentence.text, sentence.offset, sentence.annotations


def _mentions(doc_id: str, annotation: BioCAnnotation, piece: _Piece, counts: Counts, place: str) -> list[Mention]:
    """The mentions of one annotation, one for each concept; offsets count from the start of the piece.

    A mention in several parts (`left` ... `hand`) becomes one span from the first to the last.
    """
    counts.add(Reason.ANNOTATIONS_READ)
    where = f"{place} annotation {annotation.id}"
    if not annotation.locations:
        counts.add(Reason.ANNOTATION_WITHOUT_OFFSETS, where)
        return []
    start, end = annotation.total_span.offset - piece.offset, annotation.total_span.end - piece.offset
    inside = piece.text[start:end] if 0 <= start < end <= len(piece.text) else ""
    parts = [piece.text[span.offset - piece.offset :][: span.length] for span in annotation.locations]
    text = annotation.text or inside
    if len(parts) > 1 and inside != text and _unspaced("".join(parts)) == _unspaced(text):
        counts.add(Reason.MENTION_PARTS_JOINED, where)
        text = inside
    ids, type_ = annotated_concepts(annotation)
    if len(ids) > 1:
        counts.add(Reason.MENTIONS_ADDED_SEVERAL_CONCEPTS, count=len(ids) - 1)
    return [Mention(doc_id, start, end, text, type_, id_) for id_ in ids]


def _unspaced(text: str) -> str:
    return "".join(text.split())
