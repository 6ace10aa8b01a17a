"""The imported tagger assigns annotations from other files to documents, by document id.

The annotated text may be another edition of the document's text. So every span is checked against the document. It is
moved with its field, or found again in the text where that is unambiguous; otherwise it is dropped and counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from biorel.counts import Counts, Reason
from biorel.formats.documents import read_documents
from biorel.formats.identifiers import document_key
from biorel.formats.spans import check_spans, without_repeats
from biorel.ner.taggers import TaggerOptions
from biorel.records import Annotated, Document, Mention


class ImportedTagger:
    """Looks up annotations by document id. The mentions keep their concept ids.

    All annotations are held in memory. Select the documents from a large dump first, with
    `biorel fetch pubtator --dump`.
    """

    def __init__(self, annotated: Iterable[Annotated], counts: Counts) -> None:
        """Index the annotations. If a document is repeated, its first annotations are used.

        Args:
            annotated: documents with mentions.
            counts: receives what is read, assigned, moved, repaired and dropped.
        """
        self._counts = counts
        self._annotated: dict[int | str, Annotated] = {}
        for item in annotated:
            counts.add(Reason.ANNOTATED_DOCUMENTS_READ)
            if self._annotated.setdefault(document_key(item.document.doc_id), item) is not item:
                counts.add(Reason.ANNOTATED_DOCUMENT_REPEATED, item.document.doc_id)
                continue
            # without its id, as only the end shows which documents remain
            counts.add(Reason.ANNOTATED_DOCUMENT_UNMATCHED)
        self._waiting = set(self._annotated)

    def tag(self, documents: Sequence[Document]) -> list[tuple[Mention, ...]]:
        """The mentions of each document in text order; empty for a document without annotations."""
        return [self._mentions(document) for document in documents]

    def _mentions(self, document: Document) -> tuple[Mention, ...]:
        key = document_key(document.doc_id)
        if key not in self._annotated:
            self._counts.add(Reason.DOCUMENTS_WITHOUT_ANNOTATIONS, document.doc_id)
            return ()
        if key in self._waiting:
            self._waiting.remove(key)
            self._counts.add(Reason.ANNOTATED_DOCUMENT_UNMATCHED, count=-1)
            self._counts.add(Reason.ANNOTATED_DOCUMENTS_MATCHED)
        theirs = self._annotated[key]
        self._counts.add(Reason.MENTIONS_TRANSFERRED, count=len(theirs.mentions))
        moved = [replace(mention, doc_id=document.doc_id) for mention in theirs.mentions]
        if theirs.document.text != document.text:
            self._counts.add(Reason.DOCUMENTS_WITH_OTHER_TEXT, document.doc_id)
            moved = [_moved(mention, theirs.document, document) for mention in moved]
        checked = check_spans(document, moved, self._counts, document.doc_id)
        distinct = without_repeats(checked, self._counts, document.doc_id)
        return tuple(sorted(distinct, key=lambda mention: (mention.start, mention.end)))


def read_annotations(paths: Iterable[Path], counts: Counts) -> ImportedTagger:
    """Read the annotations of PubTator, BioC or JSON lines files.

    Raises:
        InputError: a file cannot be read.
    """
    file_counts = Counts()
    tagger = ImportedTagger(read_documents(paths, file_counts), counts)
    # labelled, so that the documents to tag and the documents with annotations each balance
    counts.include(file_counts, "annotations")
    return tagger


def open_tagger(options: TaggerOptions, counts: Counts) -> ImportedTagger:
    """The tagger over the annotation files of the options."""
    return read_annotations(options.annotations, counts)


def _moved(mention: Mention, theirs: Document, ours: Document) -> Mention:
    """Move a mention by the distance between the start of its field in their text and in ours.

    The distance is known if one of the two fields contains the other exactly once, as when an abstract lost its leading
    `BACKGROUND: ` or a title gained a `[`. Otherwise the fields are taken to start at the same place.
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
