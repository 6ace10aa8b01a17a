"""The records of the pipeline. All are frozen, and most are rows of a Parquet table (see `schemas`).

Offsets are Unicode code points into `Document.text`, half-open. Concept ids have a namespace (`MESH:D003000`,
`NCBIGene:367`); a document id is the bare PMID.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Document:
    """A title and an abstract. `text` is both, joined by one space."""

    doc_id: str
    title: str
    abstract: str

    @property
    def text(self) -> str:
        return f"{self.title} {self.abstract}"


@dataclass(frozen=True, slots=True)
class Article:
    """PubMed's data about a document, apart from its text.

    `year` is the year of publication, or None if unknown. `abstract_source` is `abstract`, `other abstract` (such as
    the publisher's, if the article has none) or `none`.
    """

    doc_id: str
    year: int | None
    version: int
    abstract_source: str


@dataclass(frozen=True, slots=True)
class Mention:
    """A span that names a concept. `entity_id` is None if the concept is unknown.

    A span that names several concepts gives several mentions with the same span.
    """

    doc_id: str
    start: int
    end: int
    text: str
    type: str
    entity_id: str | None


@dataclass(frozen=True, slots=True)
class Curation:
    """A relation that curators assigned to one article.

    `relation` is the name that the source uses (`CID`, `marker/mechanism`, `increases^expression`); a relation schema
    maps the name to a label. A type is empty if the source does not give types (relation rows of PubTator). `asserted`
    is False if the source inferred the relation (CTD does so through a gene or chemical).
    """

    doc_id: str
    head_type: str
    head_id: str
    relation: str
    tail_type: str
    tail_id: str
    asserted: bool = True


@dataclass(frozen=True, slots=True)
class Annotated:
    """A document with its mentions and curations."""

    document: Document
    mentions: tuple[Mention, ...] = ()
    curations: tuple[Curation, ...] = ()


@dataclass(frozen=True, slots=True)
class BadRecord:
    """An input record that cannot be used, with its line and the reason."""

    line: int
    doc_id: str
    reason: str


class Exclusion(StrEnum):
    """Why a pair is left out of training and of the counts that the paper reports."""

    HYPERNYM = "hypernym"  # a negative that a more specific positive explains
    UNMAPPED = "unmapped"  # curated, but only with relations that the schema drops
    INFERRED = "inferred"  # held back from the negatives by `--inferred exclude`
    NOT_MENTIONED = "not_mentioned"  # curated in a gold corpus, but an entity has no mention
    TOO_LONG = "too_long"  # its document has too many tokens


@dataclass(frozen=True, slots=True)
class Pair:
    """Two entities of one document, and the relations that hold between them.

    `relations` is empty for NULL, the negative class. `excluded_because` is an `Exclusion`, or empty for a pair that is
    used.
    """

    doc_id: str
    head_id: str
    head_type: str
    tail_id: str
    tail_type: str
    relations: tuple[str, ...] = ()
    excluded_because: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    """A document in the form that the model reads: token ids, token spans of entities, and pairs of entity indices.

    The document has T tokens, M mentions, E entities and P pairs with F features each. Brackets give list lengths.

    Attributes:
        token_ids, token_starts, token_ends: [T] vocabulary ids and character spans.
        sentence_starts: character offset at which each sentence begins.
        ner_tags: [T] indices into `ner_labels` (BIO per sub-word).
        entity_ids, entity_types: [E] concept ids and types.
        mention_entities, mention_starts, mention_ends: [M] entity index and token span, half-open;
        mention_char_starts, mention_char_ends: [M] the same spans in characters.
        pair_heads, pair_tails: [P] entity indices.
        pair_labels: [P] lists of relation indices (1-based; empty is NULL).
        pair_exclusions: [P] see `Pair.excluded_because`.
        pair_features: [P] lists of F numbers, see `dataset.pair_features`.
        pair_lexical_features: [P] lists of buckets, see `dataset.lexical_features`.
        branch_tokens, branch_anchors: for each branch of knowledge, the vocabulary ids of the branch and the ascending
            indices of the text tokens that the branch is attached to (see `knowledge.inject`); empty in a dataset.
    """

    doc_id: str
    token_ids: tuple[int, ...]
    token_starts: tuple[int, ...]
    token_ends: tuple[int, ...]
    sentence_starts: tuple[int, ...]
    ner_tags: tuple[int, ...]
    entity_ids: tuple[str, ...]
    entity_types: tuple[str, ...]
    mention_entities: tuple[int, ...]
    mention_starts: tuple[int, ...]
    mention_ends: tuple[int, ...]
    mention_char_starts: tuple[int, ...]
    mention_char_ends: tuple[int, ...]
    pair_heads: tuple[int, ...]
    pair_tails: tuple[int, ...]
    pair_labels: tuple[tuple[int, ...], ...]
    pair_exclusions: tuple[str, ...]
    pair_features: tuple[tuple[float, ...], ...]
    pair_lexical_features: tuple[tuple[int, ...], ...]
    branch_tokens: tuple[tuple[int, ...], ...] = ()
    branch_anchors: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Score:
    """The probability of one relation of one pair."""

    doc_id: str
    head_id: str
    tail_id: str
    relation: str
    score: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """A mention pair that contributes to the log-sum-exp of a relation (BRAN, section 2.4).

    `weight` is the share of the mention pair, in (0, 1]; the weights of all mention pairs of a relation sum to 1.
    `sentence` spans from the first to the last sentence that the two mentions touch.
    """

    head: tuple[int, int]
    tail: tuple[int, int]
    weight: float
    sentence: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Entity:
    """An argument of an extracted relation. `name` is the text of the first mention."""

    id: str
    type: str
    name: str


@dataclass(frozen=True, slots=True)
class Relation:
    """An extracted relation of one document."""

    doc_id: str
    head: Entity
    relation: str
    tail: Entity
    score: float
    evidence: tuple[Evidence, ...]

    @property
    def strongest(self) -> Evidence | None:
        """The evidence with the largest weight, or None if the relation has no evidence."""
        return max(self.evidence, key=lambda evidence: evidence.weight, default=None)


@dataclass(frozen=True, slots=True)
class Name:
    """A name of a concept: one row of a linker's lexicon.

    `entity_id` is one id, or several joined with `|` for a name that covers several concepts. `source` is `training`,
    `mesh`, `ctd` or `synonym`. `count` is the number of times that training texts use the name for this id.
    """

    name: str
    type: str
    entity_id: str
    source: str
    count: int


@dataclass(frozen=True, slots=True)
class Status:
    """The outcome of an extraction for one input record.

    `status` is `ok`, `no entities`, `nothing above threshold` or `bad record`. `line` is the line of the input, or 0.
    """

    doc_id: str
    line: int
    status: str
    reason: str
    relations: int
    tokens: int
    windows: int


@dataclass(frozen=True, slots=True)
class Triple:
    """A triple of a knowledge graph. Subject and object have names and, if known, concept ids.

    `source` is `mesh`, `ctd` or `spo`; `pmids` are the articles that the triple was curated from.
    """

    subject: str
    predicate: str
    object: str
    subject_id: str
    object_id: str
    source: str
    pmids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CorpusTriple:
    """A relation between two concepts, combined from all documents that state the relation.

    Attributes:
        head, tail: the two concepts, each with the name that most documents use.
        score: the vote of the documents, see `scoring.vote`.
        support: number of distinct documents.
        documents: ids of these documents, by descending score.
        best_document, best_score: the document in which the relation is most probable, and that probability.
        evidence: the strongest mention pair in that document, or None.
        sentence: the text of the evidence's sentences; empty if the documents were not given.
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
    """A span that answers a question. `entity_id` is empty if the span names no known concept."""

    start: int
    end: int
    text: str
    entity_id: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one document. A question without answers is unanswerable from this document.

    Attributes:
        asks: the argument that is asked for, `tail` or `head`; empty for a free question.
        entity_id: the concept that the question names; empty for a free question.
        answer_type: the entity type of an answer; empty if unknown.
        answers: all mentions of all correct entities.
        ignored: concepts that count as neither right nor wrong, because their pair with the entity is excluded (see
            `Pair.excluded_because`).
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
    """The best span of an answer in one document, with the sentence that contains the span."""

    doc_id: str
    score: float
    start: int
    end: int
    text: str
    sentence: tuple[int, int]
    sentence_text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer combined from all documents. Answers that link to the same concept are joined.

    Attributes:
        text: the form that most documents use.
        entity_id, entity_type: the concept; empty if the spans name no known concept.
        score: the vote of the documents, see `scoring.vote`.
        found: the best span in each document, by descending score.
    """

    text: str
    entity_id: str
    entity_type: str
    score: float
    support: int
    found: tuple[Found, ...]
