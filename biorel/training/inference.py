"""A trained network over examples: probabilities of every pair, evidence, and BIO tags."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from biorel.model.bran import probabilities
from biorel.model.ensemble import Network
from biorel.model.pooling import link_weights, pool_links
from biorel.records import Example
from biorel.training.batches import all_pairs, ordered_plans
from biorel.training.collate import Collator


@dataclass(frozen=True)
class Prediction:
    """What the network says of one document.

    Attributes:
        index: place of the document among the examples.
        example: the document as it was scored, with the pairs that `pairs` is about.
        pairs: [P, R] probabilities, NULL first.
        links: [N, R] share of each pair of units in its pair's log-sum-exp.
        link_pairs: [N] the pair of each link.
        tags: [T] BIO label indices.
        document: log-odds that it holds a relation, of a network that was trained for triage; else None.
    """

    index: int
    example: Example
    pairs: np.ndarray
    links: np.ndarray
    link_pairs: np.ndarray
    tags: np.ndarray
    document: float | None = None


# given a document's place and its BIO tags [T], the example with the entities and pairs to score
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
    """Score all pairs of all documents; predictions come in the order of length, each with its index.

    Args:
        complete: makes the entities and pairs of a document from the tags that the network itself gives it, so
            that it is encoded once for both; without, the pairs are those of the examples.

    The network is put in evaluation mode and left there.
    """
    model.eval()
    for plan in ordered_plans(examples, token_budget=token_budget, positions=model.sizes.positions):
        batch = collate(examples, plan).to(device)
        tokens = model.encode(batch.token_ids, batch.token_mask, batch.branches)
        documents = [examples[index] for index in plan.documents]
        if complete is not None:
            tags = model.ner(tokens).argmax(-1).cpu().numpy()
            documents = [
                complete(index, tags[row, : len(examples[index].token_ids)]) for row, index in enumerate(plan.documents)
            ]
            batch = collate(documents, all_pairs(documents)).to(device)
            if batch.branches is not None:  # the entities that were found bring knowledge
                tokens = model.encode(batch.token_ids, batch.token_mask, batch.branches)
        output = model.score(tokens, batch)
        pooled = pool_links(output.links, batch.link_pairs, batch.pairs)
        weights = link_weights(output.links, pooled, batch.link_pairs).cpu().numpy()
        pairs = probabilities(output.pairs).cpu().numpy()
        tags = output.ner.argmax(-1).cpu().numpy()
        link_pairs = batch.link_pairs.cpu().numpy()
        begin = 0
        for row, (index, example) in enumerate(zip(plan.documents, documents, strict=True)):
            end = begin + len(example.pair_heads)
            first, last = np.searchsorted(link_pairs, [begin, end])
            yield Prediction(
                index,
                example,
                pairs[begin:end],
                weights[first:last],
                link_pairs[first:last] - begin,
                tags[row, : len(example.token_ids)],
                None if output.documents is None else float(output.documents[row]),
            )
            begin = end
