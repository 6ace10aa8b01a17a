"""The nouns of the pipeline, frozen. Each is one row of one Parquet table (see `schemas`).

Offsets are Unicode code points into `Document.text`, half-open. Ids carry their namespace (`MESH:D003000`,
`NCBIGene:367`); a document id is the bare PMID.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Document:
    """An abstract. Its text is the title, one space, the abstract."""

    doc_id: str
    title: str
    abstract: str

    @property
    def text(self) -> str:
        return f"{self.title} {self.abstract}"


@dataclass(frozen=True, slots=True)
class Article:
    """What PubMed says of a document beside its text.

    `year` is the year of publication, None where PubMed tells none. `abstract_source` is `abstract`, `other abstract`
    (a publisher's, where the article has none itself) or `none`.
    """

    doc_id: str
    year: int | None
    version: int
    abstract_source: str


@dataclass(frozen=True, slots=True)
class Mention:
    """A span that names a concept; `entity_id` is None where nothing is known of the concept.

    A span that names several concepts at once is several mentions with one span.
    """

    doc_id: str
    start: int
    end: int
    text: str
    type: str
    entity_id: str | None


@dataclass(frozen=True, slots=True)
class Curation:
    """What a curator holds of one article: this head has this relation to this tail.

    `relation` is in the words of the source (`CID`, `marker/mechanism`, `increases^expression`); a relation schema
    turns it into a label. A type is empty where the source does not tell it (a relation line of PubTator). `asserted`
    is False for a row that the source itself inferred (CTD, through a gene or chemical).
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
    """A document with all that its file says of it."""

    document: Document
    mentions: tuple[Mention, ...] = ()
    curations: tuple[Curation, ...] = ()


@dataclass(frozen=True, slots=True)
class BadRecord:
    """An input record that is no document: where it stands and what is wrong with it."""

    line: int
    doc_id: str
    reason: str


class Exclusion(StrEnum):
    """Why a pair takes no part in training and in the paper's counts."""

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
    """A document as the model reads it: token ids, entities as token spans, pairs as indices.

    T tokens, M mentions, E entities, P pairs, F features of a pair; all lists are of those lengths.

    Attributes:
        token_ids, token_starts, token_ends: [T] vocabulary ids and character spans.
        sentence_starts: character offset at which each sentence begins.
        ner_tags: [T] indices into `ner_labels` (BIO per sub-word).
        entity_ids, entity_types: [E].
        mention_entities, mention_starts, mention_ends: [M] entity index and token span, half-open;
        mention_char_starts, mention_char_ends: [M] the same spans in characters.
        pair_heads, pair_tails: [P] entity indices.
        pair_labels: [P] lists of relation indices (1-based; empty is NULL).
        pair_exclusions: [P] as `Pair.excluded_because`.
        pair_features: [P] lists of F numbers, see `dataset.pair_features`.
        pair_lexical_features: [P] lists of buckets, see `dataset.lexical_features`.
        branch_tokens, branch_anchors: of each branch of knowledge its vocabulary ids and the tokens that it hangs on,
            ascending, see `knowledge.inject`; none in a dataset.
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
    """The probability that the model gives to one relation of one pair."""

    doc_id: str
    head_id: str
    tail_id: str
    relation: str
    score: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """A mention pair that carries part of a relation's log-sum-exp.

    `weight` is its share, in (0, 1]; the weights of all mention pairs of a relation sum to 1.
    `sentence` spans from the first to the last sentence that the two mentions touch.
    """

    head: tuple[int, int]
    tail: tuple[int, int]
    weight: float
    sentence: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Entity:
    """An argument of an extracted relation; its name is the text of its first mention."""

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
        """The evidence that weighs most; None where there is none."""
        return max(self.evidence, key=lambda evidence: evidence.weight, default=None)


@dataclass(frozen=True, slots=True)
class Name:
    """A name of a concept: one row of a linker's lexicon.

    `entity_id` is one id, or several joined with `|` where the name stands for several concepts at once.
    `source` is `training`, `mesh`, `ctd` or `synonym`; `count` is how often training texts use the name so, else 0.
    """

    name: str
    type: str
    entity_id: str
    source: str
    count: int


@dataclass(frozen=True, slots=True)
class Status:
    """What became of one input record of an extraction.

    `status` is `ok`, `no entities`, `nothing above threshold` or `bad record`; `line` is that of the input, or 0.
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
    """A statement by name and, where known, by concept id; `source` is mesh, ctd or spo, `pmids` what curators read."""

    subject: str
    predicate: str
    object: str
    subject_id: str
    object_id: str
    source: str
    pmids: tuple[str, ...] = ()


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
        ignored: concepts whose relation to the entity is held back (`Pair.excluded_because`): neither right nor wrong.
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
