"""Compare the scores of a network with the gold labels of examples, during training and afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from sklearn.metrics import average_precision_score

from biorel.dataset.pair_features import token_distances
from biorel.errors import InputError
from biorel.progress import DevScore
from biorel.records import Example, Pair
from biorel.scoring.metrics import evaluate
from biorel.scoring.ner import NerMetrics, evaluate_spans
from biorel.scoring.pairs import NOT_SCORED, ScoredPair
from biorel.scoring.thresholds import ThresholdRule
from biorel.training.examples import example_pairs
from biorel.training.inference import predict
from biorel.training.model_folder import ModelFolder

MEASURES = {"relations": "micro F1", "triage": "average precision", "ner": "entity F1"}
_NEVER = 1.0  # the threshold of every relation of a network that predicts none


@dataclass(frozen=True)
class ScoredExamples:
    """All pairs of examples with their probabilities, and the predicted BIO tags of each example, in their order."""

    pairs: list[ScoredPair]
    tags: list[list[int]]


@dataclass(frozen=True)
class ScoredDocuments:
    """The triage score of each example (0 where the network has none), and the metrics of entity spans."""

    scores: list[float]
    ner: NerMetrics


def score_examples(
    opened: ModelFolder, examples: Sequence[Example], *, token_budget: int, device: torch.device
) -> ScoredExamples:
    """Score all pairs of all examples and tag their tokens.

    Args:
        token_budget: padded tokens of a batch.
    """
    labels = opened.schema.labels
    pairs: list[list[ScoredPair]] = [[] for _ in examples]
    tags: list[list[int]] = [[] for _ in examples]
    for prediction in predict(opened.model, examples, opened.collator, token_budget=token_budget, device=device):
        example = examples[prediction.index]
        pairs[prediction.index] = [
            ScoredPair(pair, tuple(probabilities[1:].tolist()), distance)
            for pair, probabilities, distance in zip(
                example_pairs(example, labels), prediction.pair_probabilities, token_distances(example), strict=True
            )
        ]
        tags[prediction.index] = prediction.tags.tolist()
    return ScoredExamples([pair for document in pairs for pair in document], tags)


def unscored_pairs(pairs: Iterable[Pair], scored: Iterable[ScoredPair], relations: int) -> Iterator[ScoredPair]:
    """The pairs of the dataset that no example holds, with probability 0 for each relation.

    These are the pairs of documents over the token limit and of entities without a mention.
    """
    keys = {one.key for one in scored}
    for pair in pairs:
        if (pair.doc_id, pair.head_id, pair.tail_id) not in keys:
            yield ScoredPair(pair, (0.0,) * relations, NOT_SCORED)


def score_documents(
    opened: ModelFolder, examples: Sequence[Example], *, token_budget: int, device: torch.device
) -> ScoredDocuments:
    """Score each document for triage and tag its tokens.

    Args:
        token_budget: padded tokens of a batch.
    """
    scores = [0.0] * len(examples)
    tags: list[list[int]] = [[] for _ in examples]
    for prediction in predict(opened.model, examples, opened.collator, token_budget=token_budget, device=device):
        scores[prediction.index] = prediction.document_score or 0.0
        tags[prediction.index] = prediction.tags.tolist()
    ner = evaluate_spans((example.ner_tags for example in examples), tags, opened.ner_labels)
    return ScoredDocuments(scores, ner)


def states_relation(example: Example) -> bool:
    """Whether a pair of the document has a relation: its gold label for triage."""
    return any(example.pair_labels)


def average_precision(examples: Sequence[Example], scores: Sequence[float]) -> float:
    """The average precision of the documents that state a relation, ranked by score."""
    return float(average_precision_score([states_relation(example) for example in examples], scores))


def evaluate_dev(
    opened: ModelFolder,
    dev: Sequence[Example],
    tagged: Sequence[Example],
    rule: ThresholdRule,
    *,
    token_budget: int,
    device: torch.device,
) -> DevScore:
    """Score a network on dev during training, by the measure of its task (`MEASURES`).

    Args:
        opened: the network and its labels; its thresholds are not used.
        dev: the dev examples.
        tagged: the same examples without knowledge branches. BIO tags are predicted on them, as branches of the gold
            mentions would show where these are.
        rule: tunes the thresholds of relations.
        token_budget: padded tokens of a batch.
    """
    config, labels = opened.model.config, opened.schema.labels
    if config.task != "relations":
        documents = score_documents(opened, dev, token_budget=token_budget, device=device)
        ner_f1 = documents.ner.overall.f1 or 0.0
        measure = average_precision(dev, documents.scores) if config.task == "triage" else ner_f1
        return DevScore(measure, {"f1": measure, "ner_f1": ner_f1}, dict.fromkeys(labels, _NEVER))
    scored = score_examples(opened, dev, token_budget=token_budget, device=device)
    tags = scored.tags
    if config.branches:
        tags = score_examples(opened, tagged, token_budget=token_budget, device=device).tags
    entities = evaluate_spans((example.ner_tags for example in dev), tags, opened.ner_labels)
    thresholds = rule(scored.pairs, labels)
    micro = evaluate(scored.pairs, labels, thresholds, filtered=True).micro
    f1, ner_f1 = micro.f1 or 0.0, entities.overall.f1 or 0.0
    return DevScore(f1, {"f1": f1, "ner_f1": ner_f1}, thresholds)


def check_task(task: str, training: Sequence[Example], dev: Sequence[Example], dataset: Path) -> None:
    """Check that a network can be trained and evaluated for a task on these examples.

    Raises:
        InputError: for relations, no dev document has a positive pair; for triage, all documents of a split state a
            relation, or none does.
    """
    if task == "relations" and not any(labels for example in dev for labels in example.pair_labels):
        raise InputError(
            f"{dataset}: the dev documents hold no positive pair",
            "build the dataset with dev documents that have relations",
        )
    if task == "triage":
        check_triage("train", training, dataset)
        check_triage("dev", dev, dataset)


def check_triage(split: str, examples: Sequence[Example], dataset: Path) -> None:
    """Check that some documents of a split state a relation and others do not.

    Raises:
        InputError: all documents of the split state a relation, or none does.
    """
    positive = sum(map(states_relation, examples))
    if positive in (0, len(examples)):
        raise InputError(
            f"{dataset}: {positive} of the {len(examples)} {split} documents state a relation; triage needs both kinds",
            "build the dataset with --keep-empty, from documents with and without relations",
        )
