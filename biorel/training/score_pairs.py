"""A network's probabilities beside the pairs they are for: what train (on dev) and evaluate both score."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import torch

from biorel.counts import Counts, Reason
from biorel.dataset.candidates import UNLINKED_ID, link
from biorel.dataset.featurize import Featurizer
from biorel.dataset.labels import read_labels
from biorel.dataset.pair_features import token_distances
from biorel.errors import InputError
from biorel.model.ensemble import Network
from biorel.records import Document, Example, Mention, Pair
from biorel.scoring.pairs import NOT_SCORED, ScoredPair
from biorel.tables import read_by_document, read_table
from biorel.text.tokenizer import load_tokenizer
from biorel.training.collate import Collator
from biorel.training.inference import predict


def read_examples(dataset: Path, split: str) -> list[Example]:
    """The examples of one split, in memory.

    Raises:
        InputError: no such split, or it is empty.
    """
    examples = list(read_table(dataset / split / "examples.parquet", Example))
    if not examples:
        raise InputError(f"{dataset}: the {split} split is empty", "build the dataset with documents for it")
    return examples


def encoded_for(encoder: Featurizer, dataset: Path, split: str, counts: Counts) -> list[Example]:
    """The examples of one split as a model reads them: with its own vocabulary, whatever that of the dataset.

    Raises:
        InputError: as `read_examples`, or the dataset is incomplete.
    """
    examples = read_examples(dataset, split)
    _, ner = read_labels(dataset)
    if ner == encoder.ner and load_tokenizer(dataset).to_str() == encoder.tokenizer.to_str():
        return examples
    counts.add(Reason.DOCUMENTS_ENCODED_AGAIN, count=len(examples))
    documents = {one.doc_id: one for one in read_table(dataset / split / "documents.parquet", Document)}
    mentions = read_by_document(dataset / split / "mentions.parquet", Mention)
    pairs = read_by_document(dataset / split / "pairs.parquet", Pair)
    encoded = []
    for example in examples:
        found = mentions.get(example.doc_id, [])
        linked = link(found, "merge" if UNLINKED_ID in example.entity_ids else "drop")
        encoded.append(encoder.example(documents[example.doc_id], found, linked, pairs.get(example.doc_id, []), counts))
    return encoded


def example_pairs(example: Example, labels: Sequence[str]) -> list[Pair]:
    """The pairs of an example as records."""
    return [
        Pair(
            example.doc_id,
            example.entity_ids[head],
            example.entity_types[head],
            example.entity_ids[tail],
            example.entity_types[tail],
            tuple(labels[relation - 1] for relation in relations),
            drop,
        )
        for head, tail, relations, drop in zip(
            example.pair_heads, example.pair_tails, example.pair_labels, example.pair_exclusions, strict=True
        )
    ]


def score(
    model: Network,
    examples: Sequence[Example],
    collate: Collator,
    labels: Sequence[str],
    *,
    token_budget: int,
    device: torch.device,
) -> tuple[list[ScoredPair], list[list[int]]]:
    """All pairs of all examples with their probabilities, and the predicted BIO tags of each example.

    Both are in the order of the examples.
    """
    scored: list[list[ScoredPair]] = [[] for _ in examples]
    tags: list[list[int]] = [[] for _ in examples]
    for prediction in predict(model, examples, collate, token_budget=token_budget, device=device):
        example = examples[prediction.index]
        scored[prediction.index] = [
            ScoredPair(pair, tuple(probabilities[1:].tolist()), distance)
            for pair, probabilities, distance in zip(
                example_pairs(example, labels), prediction.pair_probabilities, token_distances(example), strict=True
            )
        ]
        tags[prediction.index] = prediction.tags.tolist()
    return [pair for document in scored for pair in document], tags


def unscored(pairs: Iterable[Pair], scored: Iterable[ScoredPair], relations: int) -> Iterator[ScoredPair]:
    """The pairs of the dataset that no example holds (documents over the cap, entities without a mention)."""
    done = {(one.pair.doc_id, one.pair.head_id, one.pair.tail_id) for one in scored}
    for pair in pairs:
        if (pair.doc_id, pair.head_id, pair.tail_id) not in done:
            yield ScoredPair(pair, (0.0,) * relations, NOT_SCORED)
