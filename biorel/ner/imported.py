"""The imported tagger assigns annotations from other files to documents, by document id.

The annotated text may be another edition of the document's text. So every span is checked against the document. A
span that does not match is moved with its title or abstract, or found by its text. A mention whose place remains
uncertain is dropped and counted.
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

    All annotations are held in memory. For a large dump, first select the documents with
    `biorel fetch pubtator --dump`.
    """

    def __init__(self, annotated: Iterable[Annotated], counts: Counts) -> None:
        """Index the annotations. If a document occurs several times, the first set of annotations is used.

        Args:
            annotated: documents with mentions.
            counts: receives the numbers of documents and mentions read, assigned, moved, repaired and dropped.
        """
        self._counts = counts
        self._annotated: dict[int | str, Annotated] = {}
        for item in annotated:
            counts.add(Reason.ANNOTATED_DOCUMENTS_READ)
            if self._annotated.setdefault(document_key(item.document.doc_id), item) is not item:
                counts.add(Reason.ANNOTATED_DOCUMENT_REPEATED, item.document.doc_id)
                continue
            # counted without the document's id as an example, because only the end shows which documents remain
            counts.add(Reason.ANNOTATED_DOCUMENT_UNMATCHED)
        self._waiting = set(self._annotated)

    def tag(self, documents: Sequence[Document]) -> list[tuple[Mention, ...]]:
        """Find the mentions of each document, in text order. A document without annotations has no mentions."""
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
    # labelled, so that the counts of documents to tag and of documents with annotations balance separately
    counts.include(file_counts, "annotations")
    return tagger


def open_tagger(options: TaggerOptions, counts: Counts) -> ImportedTagger:
    """Open the tagger for the annotation files in `options`."""
    return read_annotations(options.annotations, counts)


def _moved(mention: Mention, theirs: Document, ours: Document) -> Mention:
    """Move a mention by the distance between the starts of its title or abstract in the two documents.

    The distance is known if one of the two texts contains the other exactly once, for instance if an abstract lost its
    leading `BACKGROUND: ` or a title gained a `[`. Otherwise both texts are assumed to start at the same place.
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
