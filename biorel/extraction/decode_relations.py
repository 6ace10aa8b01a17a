"""Decide from the probabilities of a document's pairs which relations to report, and with which evidence."""

from __future__ import annotations

from dataclasses import dataclass

from biorel.extraction.document import ExtractedRelation, MentionPair
from biorel.records import Document, Entity, Evidence, Example
from biorel.scoring.thresholds import decide
from biorel.training.evidence import relation_evidence
from biorel.training.inference import Prediction
from biorel.training.model_folder import ModelFolder


@dataclass(frozen=True)
class DecodingOptions:
    """Which relations of a pair are reported.

    Attributes:
        thresholds: [R] in label order. The most probable relation of a pair is reported if its probability reaches its
            threshold.
        all_scores: report every relation that the pair's types allow, whatever its score.
        max_evidence: the maximum number of mention pairs reported for a relation.
    """

    thresholds: tuple[float, ...]
    all_scores: bool = False
    max_evidence: int = 5


def decode_relations(
    document: Document, prediction: Prediction, model: ModelFolder, options: DecodingOptions
) -> list[ExtractedRelation]:
    """The relations of one document by descending score. Equal scores are sorted by head, tail and label."""
    example = prediction.example
    types = [(relation.head, relation.tail) for relation in model.schema.relations]
    relations = []
    for pair, (head, tail) in enumerate(zip(example.pair_heads, example.pair_tails, strict=True)):
        probabilities = prediction.pair_probabilities[pair, 1:].tolist()
        if options.all_scores:
            pair_types = (example.entity_types[head], example.entity_types[tail])
            chosen = [label for label, expected in enumerate(types) if expected == pair_types]
        else:
            decision = decide(probabilities, options.thresholds)
            chosen = [] if decision is None else [decision]
        weights = prediction.mention_pair_weights[prediction.entity_pairs == pair]
        for label in chosen:
            evidence = relation_evidence(
                example, head, tail, weights[:, label + 1], model.model.config.span_pooling, options.max_evidence
            )
            relations.append(
                ExtractedRelation(
                    doc_id=example.doc_id,
                    head=_entity(document, example, head),
                    relation=model.schema.labels[label],
                    tail=_entity(document, example, tail),
                    score=probabilities[label],
                    evidence=tuple(_mention_pair(document.text, one) for one in evidence),
                )
            )
    return sorted(
        relations, key=lambda relation: (-relation.score, relation.head.id, relation.tail.id, relation.relation)
    )


def _mention_pair(text: str, evidence: Evidence) -> MentionPair:
    head, tail, sentence = (slice(*span) for span in (evidence.head, evidence.tail, evidence.sentence))
    return MentionPair(
        head=evidence.head,
        tail=evidence.tail,
        weight=evidence.weight,
        sentence=evidence.sentence,
        head_text=text[head],
        tail_text=text[tail],
        sentence_text=text[sentence].strip(),
    )


def _entity(document: Document, example: Example, entity: int) -> Entity:
    """The entity, named by the text of its first mention."""
    first = example.mention_entities.index(entity)
    name = document.text[example.mention_char_starts[first] : example.mention_char_ends[first]]
    return Entity(example.entity_ids[entity], example.entity_types[entity], name)
