"""Candidate pairs of a document: all pairs of entities whose types a relation of the schema connects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from biorel.dataset.relation_schema import RelationSchema
from biorel.records import Mention, Pair

# the id of the one entity that holds all mentions without a concept id; see `link`
UNLINKED_ID = "UNLINKED"


class EntityKey(NamedTuple):
    """An entity within a document. An id that is tagged with two types gives two entities."""

    id: str
    type: str


def link(mentions: Sequence[Mention], unlinked: str) -> tuple[Mention, ...]:
    """The mentions that take part in pairs.

    Args:
        mentions: the mentions of one document, in the order of the input file.
        unlinked: what to do with mentions without a concept id. `drop` leaves them out. `merge` combines
            these mentions into one entity with the type of the first mention, as in the paper's counts.
    """
    if unlinked == "drop":
        return tuple(mention for mention in mentions if mention.entity_id is not None)
    without_id = [mention for mention in mentions if mention.entity_id is None]
    return tuple(
        mention if mention.entity_id is not None else replace(mention, entity_id=UNLINKED_ID, type=without_id[0].type)
        for mention in mentions
    )


def entities(mentions: Iterable[Mention]) -> tuple[EntityKey, ...]:
    """The distinct entities of linked mentions, in order of first mention."""
    return tuple(dict.fromkeys(EntityKey(mention.entity_id, mention.type) for mention in mentions if mention.entity_id))


def candidates(doc_id: str, keys: Sequence[EntityKey], schema: RelationSchema) -> tuple[Pair, ...]:
    """Every (head, tail) with a pair type of the schema, without labels. No entity is paired with itself.

    If all relations of a pair type are symmetric, each unordered pair occurs once, with the two ids sorted.
    """
    pairs: dict[tuple[str, str], Pair] = {}
    for head_type, tail_type in schema.pair_types:
        symmetric = is_symmetric(schema, head_type, tail_type)
        for head in (key for key in keys if key.type == head_type):
            for tail in (key for key in keys if key.type == tail_type):
                if head.id == tail.id or (symmetric and head.id > tail.id):
                    continue
                pairs.setdefault((head.id, tail.id), Pair(doc_id, head.id, head.type, tail.id, tail.type))
    return tuple(pairs.values())


def is_symmetric(schema: RelationSchema, head_type: str, tail_type: str) -> bool:
    """Whether all relations between these types are symmetric."""
    between = [relation for relation in schema.relations if (relation.head, relation.tail) == (head_type, tail_type)]
    return head_type == tail_type and all(relation.symmetric for relation in between)
