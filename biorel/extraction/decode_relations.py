"""What a model reads out of one document: an example of its pairs before, its relations after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from biorel.counts import Counts
from biorel.dataset.candidates import EntityKey, candidates, entities, link
from biorel.knowledge.inject import Injector
from biorel.records import Annotated, Entity, Example, Mention, Pair, Relation
from biorel.scoring.thresholds import decide
from biorel.training.evidence import relation_evidence
from biorel.training.inference import Prediction
from biorel.training.model_folder import ModelFolder


@dataclass(frozen=True)
class Candidates:
    """A document with its linked mentions and all pairs of entities that the model's relations can join."""

    item: Annotated
    linked: Sequence[Mention]
    pairs: Sequence[Pair]

    def mention_pairs(self) -> int:
        """How many pairs of mentions its pairs have: what scoring it takes memory and time for."""
        mentions = Counter(EntityKey(mention.entity_id or "", mention.type) for mention in self.linked)
        return sum(
            mentions[EntityKey(pair.head_id, pair.head_type)] * mentions[EntityKey(pair.tail_id, pair.tail_type)]
            for pair in self.pairs
        )

    def example(self, opened: ModelFolder, counts: Counts, inject: Injector | None = None) -> Example:
        """The document as the model reads it, with its knowledge where a graph gives some."""
        example = opened.encoder.example(self.item.document, self.item.mentions, self.linked, self.pairs, counts)
        return example if inject is None else inject(example, self.item.document.text)


def candidates_of(item: Annotated, opened: ModelFolder) -> Candidates:
    """What the model can be asked about one document."""
    linked = link(item.mentions, "drop")
    return Candidates(item, linked, candidates(item.document.doc_id, entities(linked), opened.schema))


@dataclass(frozen=True)
class Choice:
    """Which relations of a pair are told.

    Attributes:
        thresholds: [R] in label order; the most probable relation is told from there.
        all_scores: tell every relation that the pair's types allow, whatever its score.
        max_evidence: mention pairs told per relation.
    """

    thresholds: tuple[float, ...]
    all_scores: bool
    max_evidence: int


def read_relations(item: Annotated, prediction: Prediction, opened: ModelFolder, choice: Choice) -> list[Relation]:
    """The relations of one document by descending score."""
    example = prediction.example
    types = [(relation.head, relation.tail) for relation in opened.schema.relations]
    found = []
    for pair, (head, tail) in enumerate(zip(example.pair_heads, example.pair_tails, strict=True)):
        probabilities = prediction.pairs[pair, 1:].tolist()
        pair_types = (example.entity_types[head], example.entity_types[tail])
        if choice.all_scores:
            told = [number for number, expected in enumerate(types) if expected == pair_types]
        else:
            decided = decide(probabilities, choice.thresholds)
            told = [] if decided is None else [decided]
        links = prediction.links[prediction.link_pairs == pair]
        for number in told:
            evidence = relation_evidence(
                example, head, tail, links[:, number + 1], opened.model.sizes.units, choice.max_evidence
            )
            found.append(
                Relation(
                    doc_id=example.doc_id,
                    head=_entity(item, example, head),
                    relation=opened.schema.labels[number],
                    tail=_entity(item, example, tail),
                    score=probabilities[number],
                    evidence=evidence,
                )
            )
    return sorted(found, key=lambda relation: (-relation.score, relation.head.id, relation.tail.id, relation.relation))


def _entity(item: Annotated, example: Example, entity: int) -> Entity:
    """The entity by its id, with the text of its first mention for a name."""
    first = example.mention_entities.index(entity)
    name = item.document.text[example.mention_char_starts[first] : example.mention_char_ends[first]]
    return Entity(example.entity_ids[entity], example.entity_types[entity], name)
