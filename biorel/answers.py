"""The nouns of what is told over many abstracts: triples of a corpus, questions, answers. Frozen, as `records`.

Offsets are Unicode code points into a document's text, half-open.
"""

from __future__ import annotations

from dataclasses import dataclass

from biorel.records import Entity, Evidence


@dataclass(frozen=True, slots=True)
class CorpusTriple:
    """A relation between two concepts, over all documents that tell it.

    Attributes:
        head, tail: the name is the one that most documents use.
        score: the vote over the documents, see `scoring.vote`.
        support: number of distinct documents.
        documents: their ids, by descending score.
        best_document, best_score: where the relation is most probable, and how probable there.
        evidence: the strongest mention pair of that document, None where the relation came without one.
        sentence: the text of its sentences, empty where the documents were not at hand.
    """

    head: Entity
    relation: str
    tail: Entity
    score: float
    support: int
    documents: tuple[str, ...]
    best_document: str
    best_score: float
    evidence: Evidence | None
    sentence: str


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """A span that answers a question; `entity_id` is empty where the span names no known concept."""

    start: int
    end: int
    text: str
    entity_id: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question to one document; without answers it is unanswerable there.

    Attributes:
        asks: the side of the relation that is asked for, `tail` or `head`; empty for a free question.
        entity_id: the concept that the question names; empty for a free question.
        answer_type: the entity type of an answer; empty where nothing is known of it.
        answers: all mentions of all right entities.
        ignored: concepts whose relation to the entity is held back (`Pair.drop`): neither right nor wrong.
    """

    question_id: str
    doc_id: str
    text: str
    relation: str
    asks: str
    entity_id: str
    answer_type: str
    answers: tuple[AnswerSpan, ...]
    ignored: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """The best span of an answer in one document, with the sentence that it stands in."""

    doc_id: str
    score: float
    start: int
    end: int
    text: str
    sentence: tuple[int, int]
    sentence_text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer over all documents; those that link to one concept are one.

    Attributes:
        text: as most documents have it.
        entity_id, entity_type: empty where its spans name no known concept.
        score: the vote.
        found: by document, the highest score first.
    """

    text: str
    entity_id: str
    entity_type: str
    score: float
    support: int
    found: tuple[Found, ...]
