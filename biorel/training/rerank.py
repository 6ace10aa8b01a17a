"""Fits the reranker (`model.reranker`) after BRAN is trained: the linear model on training documents, the mix on dev.

Each weight is learned from scores of documents that the scorer was not fitted on. The linear model scores the training
documents in folds (cross-fitting), and the weights of competing pairs are fitted on these scores. Training BRAN once
for each fold would take too long, so its share is fitted on dev, where its thresholds are tuned as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression
from torch import Tensor

from biorel.dataset.lexical_features import BUCKETS
from biorel.model.bran import Bran
from biorel.model.competing_pairs import COMPETING_FEATURES, competing_pair_features
from biorel.model.reranker import Reranker, log_odds
from biorel.records import Example
from biorel.training.batches import ordered_plans
from biorel.training.collate import Collator, feature_table

FOLDS = 5
MIN_COUNT = 3  # a lexical feature of fewer training pairs has no weight
STRENGTH = 0.1  # inverse of the L2 penalty of the linear model and of the competing pairs
UNCHANGED = np.eye(COMPETING_FEATURES)[0]  # weights of competing pairs that do not change a score

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PairTable:
    """All P pairs of several documents, with F features; here R counts the relations without NULL.

    `usable` is False for pairs that take no part in training. They still compete with other pairs, as nothing
    distinguishes them in a text to extract from.
    """

    lexical: csr_matrix  # [P, BUCKETS]
    features: Floats  # [P, F]
    allowed: Bools  # [P, R]
    labels: Bools  # [P, R]
    usable: Bools  # [P]
    heads: Ints  # [P]
    tails: Ints  # [P]
    documents: Ints  # [P]


@dataclass(frozen=True)
class LexicalModel:
    """W_lexical [BUCKETS, R], W_pair [F, R] and b [R] of `model.reranker`."""

    lexical: Floats
    features: Floats
    bias: Floats

    def scores(self, table: PairTable) -> Floats:
        """[P, R] log-odds."""
        scores: Floats = table.lexical @ self.lexical + table.features @ self.features + self.bias
        return scores


def fit_reranker(reranker: Reranker, examples: Sequence[Example], collate: Collator, *, seed: int) -> None:
    """Fit a reranker to training documents; until `fit_mix` its mix is the linear model alone.

    Where the documents have no positive or no negative pair, the weights of competing pairs leave scores unchanged.

    Args:
        reranker: its buffers are overwritten, on any device.
        seed: assigns documents to the folds of the cross-fitting.
    """
    table = pair_table(examples, collate.relation_types, collate.features)
    lexical_model = fit_lexical_model(table, table.usable)
    scores = torch.from_numpy(cross_fitted_scores(table, seed=seed)).float()
    groups = [torch.from_numpy(numbers) for numbers in (table.tails, table.heads, table.documents)]
    competing = competing_pair_features(scores, torch.from_numpy(table.allowed), *groups).double().numpy()
    chosen = table.allowed & table.usable[:, None]  # [P, R]
    labels = table.labels[chosen]
    weights, bias = (UNCHANGED, 0.0) if _has_one_class(labels) else _fit_logistic(competing[chosen], labels)
    values = {
        "lexical_weights": lexical_model.lexical,
        "feature_weights": lexical_model.features,
        "bias": lexical_model.bias,
        "mix": np.array([0.0, 1.0, 0.0]),
        "competing_weights": weights,
        "competing_bias": np.array(bias),
    }
    reranker.load_state_dict({name: torch.from_numpy(value).float() for name, value in values.items()})


@torch.no_grad()
def fit_mix(model: Bran, examples: Sequence[Example], collate: Collator, *, token_budget: int) -> None:
    """Fit the weights of BRAN and of the linear model in the mix, by logistic regression over dev pairs.

    Neither weight is negative. Where the documents have only positive or only negative pairs, both are 0.5. The network
    is put in evaluation mode and stays in it; a network without a reranker does not change.
    """
    reranker = model.reranker
    if reranker is None:
        return
    device = next(model.parameters()).device
    inputs: list[Tensor] = []
    labels: list[Tensor] = []
    model.eval()
    for plan in ordered_plans(examples, token_budget=token_budget, positions=model.config.positions):
        batch = collate(examples, plan).to(device)
        tokens = model.encode(batch.token_ids, batch.token_mask, batch.branches)
        scores = model.score_without_reranker(tokens, batch).pair_scores
        usable = [
            not examples[index].pair_exclusions[pair]
            for index, pairs in zip(plan.documents, plan.pairs, strict=True)
            for pair in pairs
        ]
        chosen = batch.allowed[:, 1:] & torch.tensor(usable, dtype=torch.bool, device=device)[:, None]
        inputs.append(torch.stack([reranker.lexical_scores(batch)[chosen], log_odds(scores)[chosen]], dim=-1).cpu())
        labels.append(batch.labels[:, 1:][chosen].cpu())
    known = torch.cat(labels).numpy()
    if _has_one_class(known):
        mix = (0.0, 0.5, 0.5)
    else:
        weights, bias = _fit_logistic(torch.cat(inputs).double().numpy(), known, strength=1.0)
        mix = (bias, max(0.0, float(weights[0])), max(0.0, float(weights[1])))
    reranker.mix.copy_(torch.tensor(mix))


def pair_table(examples: Sequence[Example], relation_types: Sequence[tuple[str, str]], width: int) -> PairTable:
    """All pairs of these documents, with `width` features each."""
    lexical: list[int] = []
    ends = [0]
    features: list[Sequence[float]] = []
    numbers: list[tuple[int, int, int]] = []
    allowed: list[list[bool]] = []
    labels: list[list[bool]] = []
    usable: list[bool] = []
    entities = 0
    for document, example in enumerate(examples):
        for pair, (head, tail) in enumerate(zip(example.pair_heads, example.pair_tails, strict=True)):
            lexical.extend(example.pair_lexical_features[pair])
            ends.append(len(lexical))
            features.append(example.pair_features[pair])
            numbers.append((entities + head, entities + tail, document))
            types = (example.entity_types[head], example.entity_types[tail])
            allowed.append([types == expected for expected in relation_types])
            labels.append([relation in example.pair_labels[pair] for relation in range(1, len(relation_types) + 1)])
            usable.append(not example.pair_exclusions[pair])
        entities += len(example.entity_ids)
    columns = np.array(numbers, dtype=np.int64).reshape(-1, 3)
    return PairTable(
        lexical=csr_matrix((np.ones(len(lexical)), lexical, ends), shape=(len(usable), BUCKETS)),
        features=feature_table(features, width),
        allowed=np.array(allowed, dtype=bool).reshape(-1, len(relation_types)),
        labels=np.array(labels, dtype=bool).reshape(-1, len(relation_types)),
        usable=np.array(usable, dtype=bool),
        heads=columns[:, 0],
        tails=columns[:, 1],
        documents=columns[:, 2],
    )


def fit_lexical_model(table: PairTable, rows: Bools) -> LexicalModel:
    """Fit one logistic regression for each relation, against the other pairs whose argument types allow the relation.

    A relation that all of these pairs have, or none, gets a bias only.

    Args:
        rows: [P], the pairs to learn from.
    """
    relations = table.labels.shape[1]
    model = LexicalModel(
        np.zeros((BUCKETS, relations)), np.zeros((table.features.shape[1], relations)), np.zeros(relations)
    )
    for relation in range(relations):
        chosen = rows & table.allowed[:, relation]
        labels = table.labels[chosen, relation]
        lexical, features = table.lexical[chosen], table.features[chosen]
        if _has_one_class(labels):
            model.bias[relation] = np.log((labels.sum() + 0.5) / ((~labels).sum() + 0.5))
            continue
        frequent = np.flatnonzero(np.asarray(lexical.sum(0)).ravel() >= MIN_COUNT)
        mean, scale = features.mean(0), features.std(0) + 1e-6
        inputs = hstack([lexical[:, frequent], csr_matrix((features - mean) / scale)]).tocsr()
        fitted = LogisticRegression(C=STRENGTH, max_iter=500).fit(inputs, labels)
        weights = fitted.coef_[0]
        model.lexical[frequent, relation] = weights[: len(frequent)]
        model.features[:, relation] = weights[len(frequent) :] / scale
        model.bias[relation] = fitted.intercept_[0] - mean @ model.features[:, relation]
    return model


def cross_fitted_scores(table: PairTable, *, seed: int) -> Floats:
    """[P, R] log-odds of each pair by a linear model that was fitted without the pairs of its document."""
    documents = int(table.documents.max(initial=-1)) + 1
    folds = (np.random.default_rng(seed).permutation(documents) % FOLDS)[table.documents]
    scores = np.zeros(table.labels.shape)
    for fold in range(FOLDS):
        held_out = folds == fold
        scores[held_out] = fit_lexical_model(table, table.usable & ~held_out).scores(table)[held_out]
    return scores


def _has_one_class(labels: Bools) -> bool:
    """Whether all labels are equal, so that nothing can be fitted; also true of no labels."""
    return bool(labels.all()) or not labels.any()


def _fit_logistic(inputs: Floats, labels: Bools, *, strength: float = STRENGTH) -> tuple[Floats, float]:
    """Weights and bias of a logistic regression for unscaled inputs; it is fitted on standardised ones."""
    mean, scale = inputs.mean(0), inputs.std(0) + 1e-6
    fitted = LogisticRegression(C=strength, max_iter=500).fit((inputs - mean) / scale, labels)
    weights = fitted.coef_[0] / scale
    return weights, float(fitted.intercept_[0] - mean @ weights)
