"""Which pairs of entities a document offers: all whose types a relation of the schema joins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from biorel.dataset.relation_schema import RelationSchema
from biorel.records import Mention, Pair

# the paper's counts hold one entity for all the mentions of a document that have no concept id
UNLINKED_ID = "UNLINKED"


class EntityKey(NamedTuple):
    """An entity within a document: one id may be tagged with two types."""

    id: str
    type: str


def link(mentions: Sequence[Mention], unlinked: str) -> tuple[Mention, ...]:
    """The mentions that take part in pairs.

    Args:
        mentions: of one document, in the order of its file.
        unlinked: `drop` leaves out mentions without a concept id; `merge` makes all of them ONE
            entity, whose type is that of the first of them, as the paper's counts do.
    """
    if unlinked == "drop":
        return tuple(mention for mention in mentions if mention.entity_id is not None)
    loose = [mention for mention in mentions if mention.entity_id is None]
    return tuple(
        mention if mention.entity_id is not None else replace(mention, entity_id=UNLINKED_ID, type=loose[0].type)
        for mention in mentions
    )


def entities(mentions: Iterable[Mention]) -> tuple[EntityKey, ...]:
    """The entities of linked mentions, in order of first mention."""
    return tuple(dict.fromkeys(EntityKey(mention.entity_id, mention.type) for mention in mentions if mention.entity_id))


def candidates(doc_id: str, keys: Sequence[EntityKey], schema: RelationSchema) -> tuple[Pair, ...]:
    """Every (head, tail) of the schema's pair types, without labels; a pair of an entity with itself is none.

    A pair type whose relations are all symmetric has each unordered pair once, ids sorted.
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
    """True where every relation between these types is symmetric."""
    between = [relation for relation in schema.relations if (relation.head, relation.tail) == (head_type, tail_type)]
    return head_type == tail_type and all(relation.symmetric for relation in between)
