"""Small examples, batches and networks for the tests, all drawn from explicit seeds."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import nn

from biorel.counts import Counts, Outcome, Reason
from biorel.dataset.pair_features import FEATURES
from biorel.dataset.relation_schema import RelationSchema, RelationType
from biorel.model.batch import Batch
from biorel.model.bran import Bran, BranConfig
from biorel.records import Example, Mention
from biorel.training.batches import Plan
from biorel.training.collate import Collator

RESOURCES = Path(__file__).parents[1] / "resources"
TYPES = ("Chemical", "Disease", "Gene")
RELATION_TYPES = (("Chemical", "Disease"), ("Chemical", "Disease"), ("Chemical", "Gene"), ("Gene", "Disease"))
VOCABULARY = 30
LEXICAL_FEATURES = 40
UNK_ID = 1


def mention(start: int, end: int, type_: str, entity_id: str | None, *, text: str = "", doc_id: str = "1") -> Mention:
    """A mention, with placeholder text unless `text` is given."""
    return Mention(doc_id, start, end, text or "x" * (end - start), type_, entity_id)


def relation(name: str, head: str, tail: str, *sources: str, symmetric: bool = False) -> RelationType:
    """A relation type; without `sources`, its only source term is its name."""
    return RelationType(name=name, head=head, tail=tail, sources=sources or (name,), symmetric=symmetric)


def schema(*relations: RelationType) -> RelationSchema:
    """A schema of these relations."""
    return RelationSchema("test", relations)


def example(
    *,
    tokens: Sequence[int],
    entities: Sequence[tuple[str, Sequence[tuple[int, int]]]] = (),
    pairs: Sequence[tuple[int, int, Sequence[int]]] = (),
    drops: Sequence[str] | None = None,
    features: Sequence[Sequence[float]] | None = None,
    lexical_features: Sequence[Sequence[int]] | None = None,
    ner: Sequence[int] | None = None,
    branches: Sequence[tuple[Sequence[int], Sequence[int]]] = (),
    doc_id: str = "1",
) -> Example:
    """An example from token ids, entities as (type, token spans), pairs as (head, tail, labels), branches as (token
    ids, anchors).

    Each token is one character, so that token and character spans are the same.
    """
    mentions = [(number, start, end) for number, (_, spans) in enumerate(entities) for start, end in spans]
    starts, ends = tuple(start for _, start, _ in mentions), tuple(end for _, _, end in mentions)
    return Example(
        doc_id=doc_id,
        token_ids=tuple(tokens),
        token_starts=tuple(range(len(tokens))),
        token_ends=tuple(range(1, len(tokens) + 1)),
        sentence_starts=(0,),
        ner_tags=tuple(ner) if ner is not None else (0,) * len(tokens),
        entity_ids=tuple(f"MESH:{number}" for number in range(len(entities))),
        entity_types=tuple(type_ for type_, _ in entities),
        mention_entities=tuple(number for number, _, _ in mentions),
        mention_starts=starts,
        mention_ends=ends,
        mention_char_starts=starts,
        mention_char_ends=ends,
        pair_heads=tuple(head for head, _, _ in pairs),
        pair_tails=tuple(tail for _, tail, _ in pairs),
        pair_labels=tuple(tuple(labels) for _, _, labels in pairs),
        pair_exclusions=tuple(drops) if drops is not None else ("",) * len(pairs),
        pair_features=tuple(tuple(row) for row in features)
        if features is not None
        else ((0.5,) * len(FEATURES),) * len(pairs),
        pair_lexical_features=tuple(tuple(row) for row in lexical_features)
        if lexical_features is not None
        else ((),) * len(pairs),
        branch_tokens=tuple(tuple(tokens) for tokens, _ in branches),
        branch_anchors=tuple(tuple(anchors) for _, anchors in branches),
    )


def random_example(seed: int, length: int, *, entities: int = 4, mentions: int = 3, doc_id: str = "") -> Example:
    """A document of `length` tokens; its entities have 1 to `mentions` mentions, which may overlap."""
    rng = random.Random(seed)
    found: list[tuple[str, list[tuple[int, int]]]] = []
    for number in range(entities):
        starts = [rng.randrange(length) for _ in range(rng.randint(1, mentions))]
        found.append((TYPES[number % 3], [(start, min(length, start + rng.randint(1, 3))) for start in starts]))
    pairs = []
    for head, (head_type, _) in enumerate(found):
        for tail, (tail_type, _) in enumerate(found):
            fitting = [index for index, types in enumerate(RELATION_TYPES, start=1) if types == (head_type, tail_type)]
            if fitting and head != tail:
                pairs.append((head, tail, sorted(rng.sample(fitting, rng.randint(0, len(fitting))))))
    return example(
        tokens=[rng.randrange(2, VOCABULARY) for _ in range(length)],
        entities=found,
        pairs=pairs,
        features=[[rng.random() for _ in FEATURES] for _ in pairs],
        lexical_features=[sorted(rng.sample(range(LEXICAL_FEATURES), rng.randint(0, 5))) for _ in pairs],
        ner=[rng.randrange(7) for _ in range(length)],
        doc_id=doc_id or str(seed),
    )


def with_branches(document: Example, seed: int, *, per_entity: int = 2) -> Example:
    """The document with branches of 1 to 4 tokens, each anchored to all mentions of an entity."""
    rng = random.Random(seed)
    tokens, anchors = [], []
    for entity in range(len(document.entity_ids)):
        spans = zip(document.mention_entities, document.mention_starts, document.mention_ends, strict=True)
        positions = sorted({place for owner, start, end in spans if owner == entity for place in range(start, end)})
        for _ in range(per_entity if positions else 0):
            tokens.append(tuple(rng.randrange(2, VOCABULARY) for _ in range(rng.randint(1, 4))))
            anchors.append(tuple(positions))
    return replace(document, branch_tokens=tuple(tokens), branch_anchors=tuple(anchors))


def every_pair(examples: Sequence[Example], *order: int) -> Plan:
    """The plan with all pairs of the documents in `order`, or of all documents if it is empty."""
    documents = order or tuple(range(len(examples)))
    return Plan(documents, tuple(tuple(range(len(examples[index].pair_heads))) for index in documents))


def collator(*, span_pooling: str = "mentions", features: bool = True) -> Collator:
    """A collator for `RELATION_TYPES`."""
    return Collator(span_pooling=span_pooling, relation_types=RELATION_TYPES, features=len(FEATURES) if features else 0)


def batch_of(examples: Sequence[Example], *order: int, span_pooling: str = "mentions", features: bool = True) -> Batch:
    """These documents with all their pairs."""
    return collator(span_pooling=span_pooling, features=features)(examples, every_pair(examples, *order))


def tiny_bran(*, seed: int = 0, features: bool = True, **changes: object) -> Bran:
    """A network small enough for a test, with all its parameters drawn from a seed."""
    torch.manual_seed(seed)
    sizes: dict[str, object] = {
        "vocabulary": VOCABULARY,
        "relations": len(RELATION_TYPES) + 1,
        "ner_labels": 7,
        "pair_features": len(FEATURES) if features else 0,
        "width": 8,
        "heads": 2,
        "expansion": 2,
        "positions": 24,
        "feature_width": 6,
        "unk_id": UNK_ID,
    }
    return Bran(BranConfig(**{**sizes, **changes}))  # type: ignore[arg-type]


def tiny_reranked(*, seed: int = 0, **changes: object) -> Bran:
    """The network of `tiny_bran` with a reranker of `LEXICAL_FEATURES` buckets, whose weights are random as well."""
    model = tiny_bran(seed=seed, **{"lexical_features": LEXICAL_FEATURES, **changes})
    assert model.reranker is not None
    generator = torch.Generator().manual_seed(seed)
    for weights in model.reranker.buffers():
        weights.copy_(torch.randn(weights.shape, generator=generator))
    return model


def scrambled(module: nn.Module, seed: int = 0) -> nn.Module:
    """The module in float64 and evaluation mode, with every parameter, including biases and norms, drawn again."""
    generator = torch.Generator().manual_seed(seed)
    module = module.double().eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64) * 0.5)
    return module


def read_and_lost(counts: Counts) -> dict[Reason, int]:
    """The counts of documents and annotations read, and of rows lost or repaired; checks that the others balance."""
    counts.check_balance()
    balancing = {Reason.RECORDS_READ, Reason.ROWS_READ, Reason.MESH_RECORDS_READ, Reason.ANSWERS_READ}
    balancing |= {reason for reason in Reason if reason.outcome is Outcome.KEPT} - {Reason.DOCUMENTS_READ}
    return {reason: counts[reason] for reason in Reason if counts[reason] and reason not in balancing}
