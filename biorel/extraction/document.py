"""The records that an extraction returns: documents, their relations, and the evidence. All are frozen."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from biorel.records import Document, Entity, Evidence, Mention, Relation


class Outcome(StrEnum):
    """How the extraction of one record ended."""

    OK = "ok"
    NO_ENTITIES = "no entities"
    NO_RELATIONS = "nothing above threshold"
    BAD_RECORD = "bad record"


@dataclass(frozen=True, slots=True)
class MentionPair:
    """A head mention and a tail mention that support a relation. All spans are half-open, in characters.

    Attributes:
        head, tail: spans of the two mentions in the document's text.
        weight: the share of the mention pair in the log-sum-exp of the relation (BRAN, section 2.4), in (0, 1].
        sentence: span from the first to the last sentence that the two mentions touch.
        head_text, tail_text, sentence_text: the text of the three spans, without surrounding blanks.
    """

    head: tuple[int, int]
    tail: tuple[int, int]
    weight: float
    sentence: tuple[int, int]
    head_text: str
    tail_text: str
    sentence_text: str


@dataclass(frozen=True, slots=True)
class ExtractedRelation:
    """A relation between two entities of one document.

    Attributes:
        relation: a label of the model's relation schema.
        score: the probability that the model gives to the relation.
        evidence: mention pairs by descending weight.
    """

    doc_id: str
    head: Entity
    relation: str
    tail: Entity
    score: float
    evidence: tuple[MentionPair, ...]

    def to_record(self) -> Relation:
        """Convert to the record that the output formats store, which lacks the text of the evidence."""
        evidence = tuple(Evidence(pair.head, pair.tail, pair.weight, pair.sentence) for pair in self.evidence)
        return Relation(self.doc_id, self.head, self.relation, self.tail, self.score, evidence)


@dataclass(frozen=True, slots=True)
class ExtractedDocument:
    """A document with its mentions and relations.

    Attributes:
        mentions: the mentions of the input record, or those found by the tagger and linker.
        relations: the extracted relations by descending score.
        status: `ok`, `no entities`, `nothing above threshold`, or `bad record` (an input that cannot be used).
        reason: why no relation was extracted; empty if the status is `ok`.
        tokens: length of the text in tokens of the model.
        windows: number of overlapping parts in which the model read the text; 1 unless the text is long.
    """

    doc_id: str
    title: str
    abstract: str
    mentions: tuple[Mention, ...] = ()
    relations: tuple[ExtractedRelation, ...] = ()
    status: Outcome = Outcome.OK
    reason: str = ""
    tokens: int = 0
    windows: int = 0

    @property
    def text(self) -> str:
        """The title and the abstract, joined by one space, or only the title. All spans refer to this text."""
        return f"{self.title} {self.abstract}" if self.abstract else self.title

    @property
    def document(self) -> Document:
        """The title and abstract as a record for `biorel.formats`."""
        return Document(self.doc_id, self.title, self.abstract)
