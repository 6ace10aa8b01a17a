"""Fits the reranker (`model.reranker`) after BRAN is trained: cues and rivals on training documents, the mix on dev.

Each weight is learned from scores of documents that the scorer has not seen. The cue model scores the training
documents in folds (cross-fitting), and the weights of rivals are fitted on these; BRAN would take too long to be
trained once a fold, so that its share is fitted on dev, where its thresholds come from, too.
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
from biorel.model.competing_pairs import RIVALS, rival_features
from biorel.model.reranker import Reranker, log_odds
from biorel.records import Example
from biorel.training.batches import ordered_plans
from biorel.training.collate import Collator, feature_table

FOLDS = 5
RARE = 3  # a cue of fewer training pairs has no weight
STRENGTH = 0.1  # inverse of the L2 penalty of the cue model and of the rivals
UNTOUCHED = np.eye(RIVALS)[0]  # weights of rivals that leave a score as it is

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PairTable:
    """All pairs of several documents: N pairs, F features, R relations without NULL.

    `usable` is False for pairs that take no part in training; they are rivals all the same, as nobody
    tells them apart in a text to be read.
    """

    cues: csr_matrix  # [N, BUCKETS]
    features: Floats  # [N, F]
    allowed: Bools  # [N, R]
    labels: Bools  # [N, R]
    usable: Bools  # [N]
    heads: Ints  # [N]
    tails: Ints  # [N]
    documents: Ints  # [N]


@dataclass(frozen=True)
class CueModel:
    """W_cues [BUCKETS, R], W_features [F, R] and b [R] of `model.reranker`."""

    cues: Floats
    features: Floats
    bias: Floats

    def scores(self, table: PairTable) -> Floats:
        """[N, R] log-odds."""
        found: Floats = table.cues @ self.cues + table.features @ self.features + self.bias
        return found


def fit_reranker(reranker: Reranker, examples: Sequence[Example], collate: Collator, *, seed: int) -> None:
    """Fit a reranker to these training documents; its mix is the cue model alone until `fit_mix`.

    Where they hold no positive pair, or no negative, nothing is known of rivals, and each score is left as it is.

    Args:
        reranker: its buffers are overwritten, on whatever device they are.
        seed: which documents fall into which fold of the cross-fitting.
    """
    table = pair_table(examples, collate.relation_types, collate.features)
    final = fit_cues(table, table.usable)
    scores = torch.from_numpy(cross_fitted(table, seed=seed)).float()
    places = [torch.from_numpy(numbers) for numbers in (table.tails, table.heads, table.documents)]
    rivals = rival_features(scores, torch.from_numpy(table.allowed), *places).double().numpy()  # [N, R, RIVALS]
    chosen = table.allowed & table.usable[:, None]
    labels = table.labels[chosen]
    weights, bias = (UNTOUCHED, 0.0) if _of_one_class(labels) else _logistic(rivals[chosen], labels)
    values = {
        "cue_weights": final.cues,
        "feature_weights": final.features,
        "bias": final.bias,
        "mix": np.array([0.0, 1.0, 0.0]),
        "rival_weights": weights,
        "rival_bias": np.array(bias),
    }
    reranker.load_state_dict({name: torch.from_numpy(value).float() for name, value in values.items()})


@torch.no_grad()
def fit_mix(model: Bran, examples: Sequence[Example], collate: Collator, *, token_budget: int) -> None:
    """Fit how far the network and how far the cues are believed, by logistic regression over dev pairs.

    Neither weight gets below 0. Where the documents hold only positives or only negatives both count half.
    The network is put in evaluation mode and left there; one without a reranker is left as it is.
    """
    reranker = model.reranker
    if reranker is None:
        return
    device = next(model.parameters()).device
    inputs: list[Tensor] = []
    labels: list[Tensor] = []
    model.eval()
    for plan in ordered_plans(examples, token_budget=token_budget, positions=model.sizes.positions):
        batch = collate(examples, plan).to(device)
        scores = model.score_alone(model.encode(batch.token_ids, batch.token_mask, batch.branches), batch).pairs
        usable = [
            not examples[index].pair_exclusions[pair]
            for index, pairs in zip(plan.documents, plan.pairs, strict=True)
            for pair in pairs
        ]
        chosen = batch.allowed[:, 1:] & torch.tensor(usable, dtype=torch.bool, device=device)[:, None]
        inputs.append(torch.stack([reranker.cue_scores(batch)[chosen], log_odds(scores)[chosen]], dim=-1).cpu())
        labels.append(batch.labels[:, 1:][chosen].cpu())
    known = torch.cat(labels).numpy()
    if _of_one_class(known):
        mix = (0.0, 0.5, 0.5)
    else:
        weights, bias = _logistic(torch.cat(inputs).double().numpy(), known, strength=1.0)
        mix = (bias, max(0.0, float(weights[0])), max(0.0, float(weights[1])))
    reranker.mix.copy_(torch.tensor(mix))


def pair_table(examples: Sequence[Example], relation_types: Sequence[tuple[str, str]], width: int) -> PairTable:
    """All pairs of these documents, with `width` features each."""
    cues: list[int] = []
    ends = [0]
    features: list[Sequence[float]] = []
    places: list[tuple[int, int, int]] = []
    allowed: list[list[bool]] = []
    labels: list[list[bool]] = []
    usable: list[bool] = []
    entities = 0
    for number, example in enumerate(examples):
        for pair, (head, tail) in enumerate(zip(example.pair_heads, example.pair_tails, strict=True)):
            cues.extend(example.pair_lexical_features[pair])
            ends.append(len(cues))
            features.append(example.pair_features[pair])
            places.append((entities + head, entities + tail, number))
            types = (example.entity_types[head], example.entity_types[tail])
            allowed.append([types == expected for expected in relation_types])
            labels.append([relation in example.pair_labels[pair] for relation in range(1, len(relation_types) + 1)])
            usable.append(not example.pair_exclusions[pair])
        entities += len(example.entity_ids)
    numbers = np.array(places, dtype=np.int64).reshape(-1, 3)
    return PairTable(
        cues=csr_matrix((np.ones(len(cues)), cues, ends), shape=(len(usable), BUCKETS)),
        features=feature_table(features, width),
        allowed=np.array(allowed, dtype=bool).reshape(-1, len(relation_types)),
        labels=np.array(labels, dtype=bool).reshape(-1, len(relation_types)),
        usable=np.array(usable, dtype=bool),
        heads=numbers[:, 0],
        tails=numbers[:, 1],
        documents=numbers[:, 2],
    )


def fit_cues(table: PairTable, rows: Bools) -> CueModel:
    """One logistic regression a relation, it against the rest of the pairs whose types it allows.

    A relation that all of them have, or none, gets a bias alone.

    Args:
        rows: [N] which pairs to learn from.
    """
    relations = table.labels.shape[1]
    model = CueModel(
        np.zeros((BUCKETS, relations)), np.zeros((table.features.shape[1], relations)), np.zeros(relations)
    )
    for relation in range(relations):
        chosen = rows & table.allowed[:, relation]
        labels = table.labels[chosen, relation]
        cues, features = table.cues[chosen], table.features[chosen]
        if _of_one_class(labels):
            model.bias[relation] = np.log((labels.sum() + 0.5) / ((~labels).sum() + 0.5))
            continue
        frequent = np.flatnonzero(np.asarray(cues.sum(0)).ravel() >= RARE)
        mean, scale = features.mean(0), features.std(0) + 1e-6
        inputs = hstack([cues[:, frequent], csr_matrix((features - mean) / scale)]).tocsr()
        fitted = LogisticRegression(C=STRENGTH, max_iter=500).fit(inputs, labels)
        weights = fitted.coef_[0]
        model.cues[frequent, relation] = weights[: len(frequent)]
        model.features[:, relation] = weights[len(frequent) :] / scale
        model.bias[relation] = fitted.intercept_[0] - mean @ model.features[:, relation]
    return model


def cross_fitted(table: PairTable, *, seed: int) -> Floats:
    """[N, R] log-odds of each pair by a cue model that has seen no pair of its document."""
    documents = int(table.documents.max(initial=-1)) + 1
    folds = (np.random.default_rng(seed).permutation(documents) % FOLDS)[table.documents]
    scores = np.zeros(table.labels.shape)
    for fold in range(FOLDS):
        held_out = folds == fold
        scores[held_out] = fit_cues(table, table.usable & ~held_out).scores(table)[held_out]
    return scores


def _of_one_class(labels: Bools) -> bool:
    """Whether there is nothing to tell apart; of no labels there is not."""
    return bool(labels.all()) or not labels.any()


def _logistic(inputs: Floats, labels: Bools, *, strength: float = STRENGTH) -> tuple[Floats, float]:
    """Weights and bias of a logistic regression, for inputs as they are; fitted on inputs of one scale."""
    mean, scale = inputs.mean(0), inputs.std(0) + 1e-6
    fitted = LogisticRegression(C=strength, max_iter=500).fit((inputs - mean) / scale, labels)
    weights = fitted.coef_[0] / scale
    return weights, float(fitted.intercept_[0] - mean @ weights)
