"""The imported tagger: annotations that somebody else made, laid over documents by their ids.

The annotations come with a text of their own, which may be another edition of ours; so every span is checked
against our text, moved with its field or anchored anew where that is certain, and else dropped and booked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from biorel.counts import Counts, Reason
from biorel.formats.documents import read_documents
from biorel.formats.identifiers import document_key
from biorel.formats.spans import check_spans, without_repeats
from biorel.records import Annotated, Document, Mention

_READ = "annotated documents"
_LEFT = "annotated documents without a document to lay them over"


class ImportedTagger:
    """Annotations by document id; the mentions keep their concept ids.

    All annotations are held in memory: of the whole PubTator dump take the documents wanted first, with
    `biorel fetch pubtator --dump`.
    """

    def __init__(self, annotated: Iterable[Annotated], counts: Counts) -> None:
        """Take the annotations; of a repeated document the first.

        Args:
            annotated: documents with mentions.
            counts: books what is read, laid over, moved, repaired and dropped.
        """
        self._ledger = counts
        self._annotated: dict[int | str, Annotated] = {}
        for item in annotated:
            if self._annotated.setdefault(document_key(item.document.doc_id), item) is not item:
                counts.add(Reason.ANNOTATED_DOCUMENTS_DROPPED_REPEATED, item.document.doc_id)
                continue
            counts.add(_READ)
            # without its id: which ones are left is known at the end only
            counts.add(_LEFT)
            counts.add(Reason.ANNOTATIONS_READ, count=len(item.mentions))
        self._waiting = set(self._annotated)

    def tag(self, documents: Sequence[Document]) -> list[tuple[Mention, ...]]:
        """The mentions of each document in the order of the text; none where it has no annotations."""
        return [self._mentions(document) for document in documents]

    def _mentions(self, document: Document) -> tuple[Mention, ...]:
        key = document_key(document.doc_id)
        if key not in self._annotated:
            self._ledger.add(Reason.DOCUMENTS_WITHOUT_ANNOTATIONS, document.doc_id)
            return ()
        if key in self._waiting:
            self._waiting.remove(key)
            self._ledger.add(_LEFT, count=-1)
        found = self._annotated[key]
        moved = [replace(mention, doc_id=document.doc_id) for mention in found.mentions]
        if found.document.text != document.text:
            self._ledger.add(Reason.DOCUMENTS_ANNOTATED_ON_ANOTHER_EDITION_TEXT, document.doc_id)
            moved = [_moved(mention, found.document, document) for mention in moved]
        checked = check_spans(document, moved, self._ledger, document.doc_id)
        distinct = without_repeats(checked, self._ledger, document.doc_id)
        return tuple(sorted(distinct, key=lambda mention: (mention.start, mention.end)))


def read_annotations(paths: Iterable[Path], counts: Counts) -> ImportedTagger:
    """A tagger from PubTator, BioC or JSONL files.

    Raises:
        InputError: a file cannot be read.
    """
    books = Counts()
    tagger = ImportedTagger(read_documents(paths, books), counts)
    counts.include(books, _name_apart)
    return tagger


def _name_apart(reason: str) -> str:
    """What is read of the annotations is booked apart from what is read of the documents, so that both balance."""
    # --strict looks for malformed rows of any file under the one name
    return reason if reason == Reason.MALFORMED_ROW else f"annotations: {reason}"


def _moved(mention: Mention, theirs: Document, ours: Document) -> Mention:
    """The mention as far from the start of its field in our text as in theirs, if that field is found in ours once.

    An abstract without its leading `BACKGROUND: `, or a title with `[` before it, moves all spans by one step.
    """
    in_title = mention.start < len(theirs.title)
    their_field, our_field = (theirs.title, ours.title) if in_title else (theirs.abstract, ours.abstract)
    their_begin = 0 if in_title else len(theirs.title) + 1
    our_begin = 0 if in_title else len(ours.title) + 1
    if their_field and our_field.count(their_field) == 1:
        shift = our_begin + our_field.index(their_field) - their_begin
    elif our_field and their_field.count(our_field) == 1:
        shift = our_begin - their_field.index(our_field) - their_begin
    else:
        shift = our_begin - their_begin
    return replace(mention, start=mention.start + shift, end=mention.end + shift)
