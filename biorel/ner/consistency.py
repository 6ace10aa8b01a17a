"""Tag every occurrence of a name that was tagged once in the document, always with the same type.

A tagger looks at a few words on either side of a name, and misses the name if these words say little about it. On 150
development documents of CDR, tagging every occurrence raised F1 by 1.2 points for chemicals and 0.3 for diseases.
Ignoring case, or requiring a minimum share of tagged occurrences, did not raise F1 further.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from biorel.counts import Counts, Reason
from biorel.ner.spans import is_bordered, without_overlaps
from biorel.ner.taggers import Tagger
from biorel.records import Document, Mention
from biorel.text.abbreviations import find_abbreviations

_SHORTEST = 2


class ConsistentTagger:
    """Wraps a tagger, and adds mentions at the other occurrences of the names that the tagger found."""

    def __init__(self, tagger: Tagger, counts: Counts) -> None:
        self._tagger = tagger
        self._counts = counts

    def tag(self, documents: Sequence[Document]) -> list[tuple[Mention, ...]]:
        """Find the mentions of each document. The mentions are disjoint and in text order."""
        tagged = self._tagger.tag(documents)
        consistent = [carry_over(document, mentions) for document, mentions in zip(documents, tagged, strict=True)]
        added = sum(len(after) - len(before) for before, after in zip(tagged, consistent, strict=True))
        if added:
            self._counts.add(Reason.MENTIONS_ADDED_SAME_NAME, count=added)
        return consistent


def carry_over(document: Document, mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    """Add a mention at every other occurrence of the name of a mention, at word borders and outside other mentions.

    A name gets the type of most of its mentions. A short form that the document defines gets the type of its long form.
    """
    text = document.text
    types: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for mention in mentions:
        types[mention.text][mention.type] += 1
    for short, long in find_abbreviations(text, len(document.title)).items():
        if long in types and short not in types:
            types[short] += types[long]
    taken = [(mention.start, mention.end) for mention in mentions]
    spans = [(mention.start, mention.end, mention.type) for mention in mentions]
    for name, votes in types.items():
        if len(name) >= _SHORTEST:
            type_ = min(votes, key=lambda candidate: (-votes[candidate], candidate))
            spans.extend(
                (start, end, type_)
                for start, end in _occurrences(text, name)
                if not any(begin < end and start < stop for begin, stop in taken)
            )
    # a tagger that links gives a name the same id throughout a document
    ids = {mention.text: mention.entity_id for mention in mentions}
    return tuple(
        Mention(document.doc_id, start, end, text[start:end], type_, ids.get(text[start:end]))
        for start, end, type_ in without_overlaps(spans)
    )


def _occurrences(text: str, name: str) -> Iterator[tuple[int, int]]:
    start = text.find(name)
    while start >= 0:
        if is_bordered(text, start, start + len(name)):
            yield start, start + len(name)
        start = text.find(name, start + 1)
