"""The result of an extraction: one frozen record for each document, relation and piece of evidence."""

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
        weight: the pair's share of the relation's log-sum-exp (BRAN, section 2.4), in (0, 1].
        sentence: from the first to the last sentence that the two mentions touch.
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
        """The relation without the text of its evidence, which is what the output formats store."""
        evidence = tuple(Evidence(pair.head, pair.tail, pair.weight, pair.sentence) for pair in self.evidence)
        return Relation(self.doc_id, self.head, self.relation, self.tail, self.score, evidence)


@dataclass(frozen=True, slots=True)
class ExtractedDocument:
    """A document with its mentions and relations.

    Attributes:
        mentions: given by the record, or found by the tagger and linker.
        relations: by descending score.
        status: `ok`; `no entities`; `nothing above threshold`; or `bad record`, where nothing was extracted.
        reason: why there is no relation; empty if the status is `ok`.
        tokens: length of the text in tokens of the model.
        windows: overlapping parts in which the model read the text; 1 unless the text is long.
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
        """Title, one space, abstract; the title alone where there is no abstract. All spans refer to it."""
        return f"{self.title} {self.abstract}" if self.abstract else self.title

    @property
    def document(self) -> Document:
        """The document as the readers and writers of `biorel.formats` know it."""
        return Document(self.doc_id, self.title, self.abstract)
