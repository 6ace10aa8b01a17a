"""Resolve the arguments of relation rows, which name concepts by the ids that the document's annotations use.

The ids in relation rows often lack a namespace and a type. The mentions provide both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from biorel.counts import Counts, Reason
from biorel.formats.identifiers import concept_id
from biorel.records import Curation, Mention

Concept = tuple[str, str]
"""(entity id, entity type)"""

# names of the negative class in corpora that list its pairs
_NO_RELATION_WORDS = frozenset({"norelation", "none", "null", "nil", "na", "n/a", "nr", "1:nr:2", "notinclude"})


def says_no_relation(word: str) -> bool:
    """Whether the name of a relation means the negative class, which is not a relation to predict."""
    return re.sub(r"[\s_-]", "", word).lower() in _NO_RELATION_WORDS


def concepts_of(mentions: Iterable[Mention]) -> dict[str, Concept]:
    """The concepts of a document's mentions. The keys are the ids, both with and without namespace.

    If two namespaces share a bare id, the first mention wins.
    """
    concepts: dict[str, Concept] = {}
    for mention in mentions:
        if mention.entity_id:
            concept = (mention.entity_id, mention.type)
            concepts[mention.entity_id] = concept
            concepts.setdefault(mention.entity_id.partition(":")[2] or mention.entity_id, concept)
    return concepts


def resolve(raw: str, type_: str, concepts: Mapping[str, Concept]) -> Concept | None:
    """The concept that an argument names; None if the argument is marked as missing (`-`, empty).

    Args:
        raw: the id in the relation row.
        type_: the entity type of the argument; empty if the relation does not give it.
        concepts: see `concepts_of`.
    """
    id_ = concept_id(raw, type_)
    if id_ is None:
        return None
    return concepts.get(id_, (id_, type_))


def distinct_curations(curations: Iterable[Curation], counts: Counts, place: str) -> tuple[Curation, ...]:
    """The distinct curations of a document in order. Repeated curations are dropped and counted."""
    given = tuple(curations)
    kept = tuple(dict.fromkeys(given))
    if len(kept) < len(given):
        counts.add(Reason.CURATION_REPEATED, place, len(given) - len(kept))
    if kept:
        counts.add(Reason.CURATIONS_KEPT, count=len(kept))
    return kept
