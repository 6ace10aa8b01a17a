"""How a relation refers to its arguments: by a concept id as the document's annotations write it.

Often without namespace and without type; only the mentions know those.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from biorel.counts import Counts, Reason
from biorel.formats.identifiers import concept_id
from biorel.records import Curation, Mention

Concept = tuple[str, str]
"""(entity id, entity type)"""

# as corpora spell the negative class when they list its pairs, too
_NO_RELATION_WORDS = frozenset({"norelation", "none", "null", "nil", "na", "n/a", "nr", "1:nr:2", "notinclude"})


def says_no_relation(word: str) -> bool:
    """Whether the word of a relation row is the name of the negative class, which is no relation to be found."""
    return re.sub(r"[\s_-]", "", word).lower() in _NO_RELATION_WORDS


def concepts_of(mentions: Iterable[Mention]) -> dict[str, Concept]:
    """From an id, with and without its namespace, to the concept that a mention of the document gives it.

    Where two namespaces share a bare id, the first mention has it.
    """
    concepts: dict[str, Concept] = {}
    for mention in mentions:
        if mention.entity_id:
            concept = (mention.entity_id, mention.type)
            concepts[mention.entity_id] = concept
            concepts.setdefault(mention.entity_id.partition(":")[2] or mention.entity_id, concept)
    return concepts


def resolve(raw: str, type_: str, concepts: Mapping[str, Concept]) -> Concept | None:
    """The concept that an argument names; None where it says that there is none (`-`, empty).

    Args:
        raw: the id as the relation writes it.
        type_: the argument's type, empty where the relation does not tell it.
        concepts: of the document's mentions.
    """
    id_ = concept_id(raw, type_)
    if id_ is None:
        return None
    return concepts.get(id_, (id_, type_))


def distinct_curations(curations: Iterable[Curation], counts: Counts, place: str) -> tuple[Curation, ...]:
    """The curations of a document in their order, each once; repeats are counted."""
    given = tuple(curations)
    kept = tuple(dict.fromkeys(given))
    if len(kept) < len(given):
        counts.add(Reason.CURATION_REPEATED, place, len(given) - len(kept))
    if kept:
        counts.add(Reason.CURATIONS_KEPT, count=len(kept))
    return kept
