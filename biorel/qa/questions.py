"""Questions from a dataset of pairs: one for each entity, relation and direction of a document.

Its answers are all mentions of all entities that stand in the relation to the one it names; where none does, the
question is unanswerable in this document.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from biorel.dataset.candidates import EntityKey, entities
from biorel.dataset.relation_schema import RelationSchema, RelationType
from biorel.qa.templates import HEAD, TAIL, Templates, ask
from biorel.records import HYPERNYM, INFERRED, UNMAPPED, AnswerSpan, Mention, Pair, Question

# neither right nor wrong: a pair that a more specific one explains, or that nobody asserted in these words
_HELD_BACK = frozenset({HYPERNYM, UNMAPPED, INFERRED})


@dataclass(frozen=True)
class _Partners:
    """What is known of the partners of one entity: those in the relation, and those held back."""

    right: frozenset[str]
    held_back: frozenset[str]


def document_questions(
    doc_id: str, mentions: Sequence[Mention], pairs: Sequence[Pair], schema: RelationSchema, templates: Templates
) -> Iterator[Question]:
    """Yield the questions of a document, by relation, then side, then the order of first mention.

    A symmetric relation has no sides: it is asked once of each of its entities, as for a tail.

    Args:
        mentions: of the document; those without a concept id are neither asked about nor answers.
        pairs: of the document, with their relations.

    Raises:
        ConfigError: a relation has no template.
    """
    keys = entities(mentions)
    for relation in schema.relations:
        turned = [*pairs, *(_turned(pair) for pair in pairs)] if relation.symmetric else list(pairs)
        for asks in (TAIL,) if relation.symmetric else (TAIL, HEAD):
            own_type, answer_type = _types(relation, asks)
            for key in (key for key in keys if key.type == own_type):
                partners = _partners(key, relation, asks, turned)
                question_id = f"{doc_id}:{relation.name}:{asks}:{key.id}"
                yield Question(
                    question_id=question_id,
                    doc_id=doc_id,
                    text=ask(templates, relation.name, asks, first_name(key, mentions), question_id),
                    relation=relation.name,
                    asks=asks,
                    entity_id=key.id,
                    answer_type=answer_type,
                    answers=_spans(mentions, answer_type, partners.right),
                    ignored=tuple(sorted(partners.held_back - partners.right)),
                )


def _types(relation: RelationType, asks: str) -> tuple[str, str]:
    """The type of the entity that is named, and of an answer."""
    return (relation.head, relation.tail) if asks == TAIL else (relation.tail, relation.head)


def _turned(pair: Pair) -> Pair:
    return Pair(
        pair.doc_id, pair.tail_id, pair.tail_type, pair.head_id, pair.head_type, pair.relations, pair.excluded_because
    )


def _partners(key: EntityKey, relation: RelationType, asks: str, pairs: Sequence[Pair]) -> _Partners:
    right, held_back = set(), set()
    for pair in pairs:
        own, other = (pair.head_id, pair.tail_id) if asks == TAIL else (pair.tail_id, pair.head_id)
        if own != key.id or (pair.head_type, pair.tail_type) != (relation.head, relation.tail):
            continue
        if relation.name in pair.relations:
            right.add(other)
        elif pair.excluded_because in _HELD_BACK:
            held_back.add(other)
    return _Partners(frozenset(right), frozenset(held_back))


def first_name(key: EntityKey, mentions: Sequence[Mention]) -> str:
    """The text of an entity's first mention."""
    return min((m for m in mentions if (m.entity_id, m.type) == key), key=lambda mention: mention.start).text


def _spans(mentions: Sequence[Mention], type_: str, ids: frozenset[str]) -> tuple[AnswerSpan, ...]:
    found = {
        AnswerSpan(mention.start, mention.end, mention.text, mention.entity_id)
        for mention in mentions
        if mention.type == type_ and mention.entity_id in ids
    }
    return tuple(sorted(found, key=lambda span: (span.start, span.end, span.entity_id)))
