"""Questions about the pairs of a dataset, phrased by templates.

Each entity of a document is asked about once for each relation and each side of it. The answers are all mentions of
all entities in that relation to it. Without any, the question is unanswerable in this document.

Templates are TOML lists of `[[question]]` with `relation`, `asks` (the side asked for) and `texts`.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from zlib import crc32

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from biorel.dataset.candidates import EntityKey, entities
from biorel.dataset.relation_schema import RelationSchema, RelationType
from biorel.errors import ConfigError, InputError
from biorel.records import AnswerSpan, Exclusion, Mention, Pair, Question

ENTITY_SLOT = "{entity}"
TAIL, HEAD = "tail", "head"
SIDES = (TAIL, HEAD)
Templates = Mapping[tuple[str, str], tuple[str, ...]]  # (relation, side asked for) -> texts

# such a pair is neither positive nor negative: a more specific pair explains it, or nobody asserted it exactly so
_HELD_BACK = frozenset({Exclusion.HYPERNYM, Exclusion.UNMAPPED, Exclusion.INFERRED})


def document_questions(
    doc_id: str, mentions: Sequence[Mention], pairs: Sequence[Pair], schema: RelationSchema, templates: Templates
) -> Iterator[Question]:
    """Yield the questions of a document, by relation, then side, then order of first mention.

    A symmetric relation has no sides: each entity is asked about once, and the question asks for a tail.

    Args:
        mentions: of the document. A mention without a concept id is neither asked about nor an answer.
        pairs: of the document, with their relations.

    Raises:
        ConfigError: a relation has no template.
    """
    keys = entities(mentions)
    for relation in schema.relations:
        both_orders = [*pairs, *(_reversed(pair) for pair in pairs)] if relation.symmetric else list(pairs)
        for asks in (TAIL,) if relation.symmetric else (TAIL, HEAD):
            named_type, answer_type = (relation.head, relation.tail) if asks == TAIL else (relation.tail, relation.head)
            for key in (key for key in keys if key.type == named_type):
                partners = _partners(key, relation, asks, both_orders)
                question_id = f"{doc_id}:{relation.name}:{asks}:{key.id}"
                yield Question(
                    question_id=question_id,
                    doc_id=doc_id,
                    text=question_text(templates, relation.name, asks, first_name(key, mentions), question_id),
                    relation=relation.name,
                    asks=asks,
                    entity_id=key.id,
                    answer_type=answer_type,
                    answers=_answer_spans(mentions, answer_type, partners.correct),
                    ignored=tuple(sorted(partners.held_back - partners.correct)),
                )


def sample_unanswerable(questions: Sequence[Question], share: float) -> tuple[Question, ...]:
    """The answerable questions and a share of the others, chosen by a hash of the question's id."""
    return tuple(
        question for question in questions if question.answers or _uniform_from_id(question.question_id) < share
    )


def _uniform_from_id(question_id: str) -> float:
    """A number in [0, 1) that depends only on the id."""
    return int.from_bytes(hashlib.sha256(question_id.encode()).digest()[:6], "big") / (1 << 48)


def first_name(key: EntityKey, mentions: Sequence[Mention]) -> str:
    """The text of an entity's first mention."""
    return min((m for m in mentions if (m.entity_id, m.type) == key), key=lambda mention: mention.start).text


@dataclass(frozen=True)
class _Partners:
    """The ids of an entity's partners: those in the relation, and those held back."""

    correct: frozenset[str]
    held_back: frozenset[str]


def _partners(key: EntityKey, relation: RelationType, asks: str, pairs: Sequence[Pair]) -> _Partners:
    correct, held_back = set(), set()
    for pair in pairs:
        named, other = (pair.head_id, pair.tail_id) if asks == TAIL else (pair.tail_id, pair.head_id)
        if named != key.id or (pair.head_type, pair.tail_type) != (relation.head, relation.tail):
            continue
        if relation.name in pair.relations:
            correct.add(other)
        elif pair.excluded_because in _HELD_BACK:
            held_back.add(other)
    return _Partners(frozenset(correct), frozenset(held_back))


def _reversed(pair: Pair) -> Pair:
    return Pair(
        pair.doc_id, pair.tail_id, pair.tail_type, pair.head_id, pair.head_type, pair.relations, pair.excluded_because
    )


def _answer_spans(mentions: Sequence[Mention], entity_type: str, ids: frozenset[str]) -> tuple[AnswerSpan, ...]:
    spans = {
        AnswerSpan(mention.start, mention.end, mention.text, mention.entity_id)
        for mention in mentions
        if mention.type == entity_type and mention.entity_id in ids
    }
    return tuple(sorted(spans, key=lambda span: (span.start, span.end, span.entity_id)))


def question_text(templates: Templates, relation: str, asks: str, entity: str, key: str = "") -> str:
    """The question about an entity, given its name. A hash of `key` chooses among several texts.

    Raises:
        ConfigError: there is no template for this relation and side.
    """
    texts = templates.get((relation, asks))
    if texts is None:
        known = sorted({relation for relation, side in templates if side == asks})
        raise ConfigError(
            f"no question template asks for the {asks} of {relation!r}",
            f"add one with --templates; there are templates for {', '.join(known) or 'no relation'}",
        )
    return texts[crc32(key.encode()) % len(texts)].replace(ENTITY_SLOT, entity)


class _Template(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    relation: str = Field(min_length=1)
    asks: Literal["tail", "head"]
    texts: tuple[str, ...] = Field(min_length=1)

    @field_validator("texts")
    @classmethod
    def _one_slot(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        for text in texts:
            if text.count(ENTITY_SLOT) != 1:
                raise ValueError(f"{text!r} must contain {ENTITY_SLOT} exactly once")
        return texts


class _TemplateFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    question: tuple[_Template, ...] = Field(min_length=1)


def read_templates(paths: Iterable[Path]) -> Templates:
    """Read the templates of several files. A later file overrides an earlier one for the same relation and side.

    Raises:
        InputError: a file cannot be read or is not TOML.
        ConfigError: a file is not a list of question templates.
    """
    templates: dict[tuple[str, str], tuple[str, ...]] = {}
    for path in paths:
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise InputError(f"{path}: {error.strerror or error}", "give a TOML file of question templates") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(f"{path}: not TOML ({error})") from error
        try:
            questions = _TemplateFile.model_validate(content).question
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            message = str(first["msg"]).removeprefix("Value error, ")
            raise ConfigError(
                f"{path}: {field}: {message}", "resources/questions/cdr.toml is an example of a template file"
            ) from error
        templates |= {(question.relation, question.asks): question.texts for question in questions}
    return templates
