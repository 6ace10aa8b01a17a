"""K-Query of K-BERT: chooses the triples that are attached to the entities of a document as branches.

If a subject has more triples than the limit allows, triples whose object the document mentions are preferred, then
triples with more articles, then the alphabetical order of predicate and object decides. A triple that was curated only
from this document is never chosen, so that training and use both see only the knowledge of other articles.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from biorel.records import Triple


@dataclass(frozen=True)
class Subject:
    """One entity of a document: the concept id (empty if not known), and the names of the entity in the text."""

    id: str
    names: tuple[str, ...]


class Graph:
    """Triples by id and name of their subject. The cost of a query does not depend on the number of triples."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        self._by_id: dict[str, list[Triple]] = {}
        self._by_name: dict[str, list[Triple]] = {}
        self._by_ends: dict[tuple[str, str], list[Triple]] = {}  # (subject key, object key)
        for triple in sorted(triples, key=_rank):
            subjects = [name_key(triple.subject)]
            self._by_name.setdefault(subjects[0], []).append(triple)
            if triple.subject_id:
                self._by_id.setdefault(triple.subject_id, []).append(triple)
                subjects.append(triple.subject_id)
            objects = [name_key(triple.object), *([triple.object_id] if triple.object_id else [])]
            for subject in subjects:
                for end in objects:
                    self._by_ends.setdefault((subject, end), []).append(triple)

    @property
    def subject_names(self) -> frozenset[str]:
        """The names of all subjects, as `name_key` spells them."""
        return frozenset(self._by_name)

    def branches(self, subjects: Sequence[Subject], doc_id: str, limit: int) -> list[tuple[Triple, ...]]:
        """At most `limit` triples for each subject of a document, the best first.

        A subject is looked up by id, or by name if the graph does not contain the id.

        Args:
            subjects: all entities of the document; triples whose object is one of these are preferred.
            doc_id: the id of the document; triples that no other article supports are skipped.
        """
        present = list(dict.fromkeys(key for subject in subjects for key in _keys(subject)))
        return [tuple(islice(self._chosen(subject, present, doc_id), limit)) for subject in subjects]

    def _chosen(self, subject: Subject, present: Sequence[str], doc_id: str) -> Iterable[Triple]:
        if subject.id in self._by_id:
            keys, known = [subject.id], self._by_id[subject.id]
        else:
            keys = [name_key(name) for name in subject.names]
            known = [triple for key in dict.fromkeys(keys) for triple in self._by_name.get(key, ())]
        own = set(_keys(subject))
        near = {
            id(triple): triple
            for key in keys
            for other in present
            if other not in own
            for triple in self._by_ends.get((key, other), ())
        }
        first = sorted(near.values(), key=_rank)
        rest = (triple for triple in known if id(triple) not in near)
        yield from (triple for part in (first, rest) for triple in part if triple.pmids != (doc_id,))


def name_key(name: str) -> str:
    """The name for comparisons, without differences of case and whitespace."""
    return " ".join(name.casefold().split())


def _keys(subject: Subject) -> list[str]:
    return [*([subject.id] if subject.id else []), *map(name_key, subject.names)]


def _rank(triple: Triple) -> tuple[int, str, str]:
    return (-len(triple.pmids), triple.predicate, triple.object)


_WORD = re.compile(r"\w+|[^\w\s]")
_LONGEST = 8  # words of a name
_SHORTEST = 3  # characters of a name; shorter ones are too ambiguous


def find_names(text: str, names: Collection[str]) -> list[tuple[int, int]]:
    """Find names in a text, from left to right; at each place the longest. The spans do not overlap.

    Args:
        names: spelled as by `name_key`; names of more than 8 words or fewer than 3 characters are ignored.

    Returns:
        half-open character spans.
    """
    words = [match.span() for match in _WORD.finditer(text)]
    found: list[tuple[int, int]] = []
    place = 0
    while place < len(words):
        start = words[place][0]
        for last in range(min(place + _LONGEST, len(words)) - 1, place - 1, -1):
            end = words[last][1]
            if end - start >= _SHORTEST and name_key(text[start:end]) in names:
                found.append((start, end))
                place = last
                break
        place += 1
    return found
