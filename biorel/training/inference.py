"""Apply a trained network to examples: probabilities of all pairs, their evidence, and BIO tags."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from biorel.model.bran import probabilities
from biorel.model.ensemble import Network
from biorel.model.pooling import mention_pair_weights, pool_mention_pairs
from biorel.records import Example
from biorel.training.batches import all_pairs, ordered_plans
from biorel.training.collate import Collator


@dataclass(frozen=True)
class Prediction:
    """The network's predictions for one document.

    Attributes:
        index: the document's index among the examples.
        example: the document as it was scored, with the pairs in `pair_probabilities`.
        pair_probabilities: [P, R], NULL in column 0.
        mention_pair_weights: [M, R], the share of each mention pair in the log-sum-exp of its entity pair.
        entity_pairs: [M], the entity pair of each mention pair.
        tags: [T], indices of BIO labels.
        document_score: log-odds that the document states a relation; None unless the network was trained for triage.
    """

    index: int
    example: Example
    pair_probabilities: np.ndarray
    mention_pair_weights: np.ndarray
    entity_pairs: np.ndarray
    tags: np.ndarray
    document_score: float | None = None


# maps a document's index and its BIO tags [T] to the example with the entities and pairs to score
Completion = Callable[[int, np.ndarray], Example]


@torch.no_grad()
def predict(
    model: Network,
    examples: Sequence[Example],
    collate: Collator,
    *,
    token_budget: int,
    device: torch.device,
    complete: Completion | None = None,
) -> Iterator[Prediction]:
    """Score all pairs of all documents. Predictions come in order of document length, each with its index.

    The network is put in evaluation mode and stays in it.

    Args:
        complete: adds the entities and pairs of a document, given the tags that the network predicts, so that the
            document is encoded once for both. Without it, the pairs are those of the examples.
    """
    model.eval()
    for plan in ordered_plans(examples, token_budget=token_budget, positions=model.config.positions):
        batch = collate(examples, plan).to(device)
        tokens = model.encode(batch.token_ids, batch.token_mask, batch.branches)
        documents = [examples[index] for index in plan.documents]
        if complete is not None:
            tags = model.ner(tokens).argmax(-1).cpu().numpy()
            documents = [
                complete(index, tags[row, : len(examples[index].token_ids)]) for row, index in enumerate(plan.documents)
            ]
            batch = collate(documents, all_pairs(documents)).to(device)
            if batch.branches is not None:  # the predicted entities have knowledge branches
                tokens = model.encode(batch.token_ids, batch.token_mask, batch.branches)
        output = model.score(tokens, batch)
        pooled = pool_mention_pairs(output.mention_pair_scores, batch.entity_pairs, batch.pair_count)
        weights = mention_pair_weights(output.mention_pair_scores, pooled, batch.entity_pairs).cpu().numpy()
        pair_probabilities = probabilities(output.pair_scores).cpu().numpy()
        tags = output.ner_scores.argmax(-1).cpu().numpy()
        entity_pairs = batch.entity_pairs.cpu().numpy()
        begin = 0
        for row, (index, example) in enumerate(zip(plan.documents, documents, strict=True)):
            end = begin + len(example.pair_heads)
            first, last = np.searchsorted(entity_pairs, [begin, end])
            yield Prediction(
                index=index,
                example=example,
                pair_probabilities=pair_probabilities[begin:end],
                mention_pair_weights=weights[first:last],
                entity_pairs=entity_pairs[first:last] - begin,
                tags=tags[row, : len(example.token_ids)],
                document_score=None if output.document_scores is None else float(output.document_scores[row]),
            )
            begin = end
