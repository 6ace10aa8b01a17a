"""Fitting the reranker on made-up corpora in which it is known what tells the pairs apart."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
import torch

from biorel.dataset.lexical_features import BUCKETS
from biorel.dataset.pair_features import FEATURES
from biorel.model.bran import Bran
from biorel.model.competing_pairs import RIVALS
from biorel.model.reranker import Reranker
from biorel.records import Example
from biorel.training.rerank import FOLDS, RARE, PairTable, cross_fitted, fit_cues, fit_mix, fit_reranker, pair_table
from tests.builders import (
    CUES,
    RELATION_TYPES,
    batch_of,
    collator,
    example,
    random_example,
    tiny_bran,
    tiny_reranked,
)

RELATIONS = len(RELATION_TYPES)
TELLING = 0  # the cue, and the feature, that tell positive pairs where a corpus says so
BOTH = (1, 2)  # the relations of a chemical with a disease
IDENTITY = [1.0] + [0.0] * (RIVALS - 1)


def _corpus(count: int = 40) -> list[Example]:
    """Documents of pairs of all relations, their labels, cues and features drawn; a pair of the first is held back."""
    documents = [random_example(seed, 12, entities=6) for seed in range(count)]
    drops = ("hypernym", *[""] * (len(documents[0].pair_heads) - 1))
    return [dataclasses.replace(documents[0], pair_exclusions=drops), *documents[1:]]


def _table(documents: Sequence[Example]) -> PairTable:
    return pair_table(documents, RELATION_TYPES, len(FEATURES))


def _fitted(documents: Sequence[Example], seed: int = 1) -> Reranker:
    reranker = Reranker(cues=BUCKETS, features=len(FEATURES), relations=RELATIONS)
    fit_reranker(reranker, documents, collator(), seed=seed)
    return reranker


def _same(one: Reranker, other: Reranker) -> bool:
    return all(torch.equal(*pair) for pair in zip(one.buffers(), other.buffers(), strict=True))


def _chemicals_and_a_disease(labels: Sequence[bool], cues: Sequence[Sequence[int]], doc_id: str = "1") -> Example:
    """A pair for each label, of a chemical of its own with the one disease; both relations or NULL."""
    count = len(labels)
    return example(
        tokens=[2 + number % 20 for number in range(count + 1)],
        entities=[("Disease", [(0, 1)]), *[("Chemical", [(place, place + 1)]) for place in range(1, count + 1)]],
        pairs=[(chemical, 0, BOTH if label else ()) for chemical, label in enumerate(labels, start=1)],
        cues=cues,
        doc_id=doc_id,
    )


# ---- the table of pairs


def test_the_table_tells_what_a_batch_tells() -> None:
    documents = [random_example(3, 12, entities=6), example(tokens=[4]), random_example(4, 9)]
    table, batch = _table(documents), batch_of(documents)
    assert len(table.usable) == batch.pairs > 8
    assert np.array_equal(table.allowed, batch.allowed[:, 1:].numpy())
    assert np.array_equal(table.labels, batch.labels[:, 1:].numpy())
    np.testing.assert_allclose(table.features, batch.pair_features.numpy(), atol=1e-6)
    assert np.array_equal(table.documents, batch.pair_documents.numpy())
    for ours, theirs in ((table.heads, batch.pair_heads), (table.tails, batch.pair_tails)):
        assert np.array_equal(ours[:, None] == ours, (theirs[:, None] == theirs).numpy())
    starts = [*batch.cue_starts.tolist(), len(batch.cues)]
    rows = [sorted(batch.cues[begin:end].tolist()) for begin, end in pairwise(starts)]
    assert rows == [sorted(table.cues[pair].indices.tolist()) for pair in range(batch.pairs)]


def test_the_fitted_network_scores_cues_as_the_cue_model_does() -> None:
    documents = _corpus()
    table, batch = _table(documents), batch_of(documents)
    expected = fit_cues(table, table.usable).scores(table)
    assert np.abs(expected).max() > 1
    np.testing.assert_allclose(_fitted(documents).cue_scores(batch).numpy(), expected, atol=1e-4)


# ---- the cue model


def test_a_rare_cue_has_no_weight() -> None:
    labels = [number % 2 == 0 for number in range(40)]
    cues = [[7] if number < RARE - 1 else [8] if number < 2 * RARE - 1 else [9] for number in range(40)]
    table = _table([_chemicals_and_a_disease(labels, cues)])
    weights = fit_cues(table, table.usable).cues[:, 0]
    assert weights[7] == 0
    assert weights[8] != 0
    assert np.flatnonzero(weights).tolist() == [8, 9]
    # pairs that are not learned from do not make a cue frequent
    fewer = table.usable.copy()
    fewer[RARE] = False
    assert np.flatnonzero(fit_cues(table, fewer).cues[:, 0]).tolist() == [9]


@pytest.mark.parametrize("positive", [False, True])
def test_a_relation_without_positives_or_without_negatives_has_a_bias_alone(positive: bool) -> None:
    table = _table([_chemicals_and_a_disease([positive] * 9, [[7]] * 9)])
    model = fit_cues(table, table.usable)
    assert not model.cues.any()
    assert not model.features.any()
    assert model.bias[0] == pytest.approx(np.log(9.5 / 0.5) * (1 if positive else -1))
    assert model.bias[2] == 0  # no pair of its types at all


def test_weights_are_those_of_the_features_as_they_are() -> None:
    """The regression sees features of one scale; what comes out does not depend on theirs, nor on where they begin."""
    documents = _corpus()
    table = _table(documents)
    moved = dataclasses.replace(table, features=table.features * 7 + 3)
    expected = fit_cues(table, table.usable).scores(table)
    np.testing.assert_allclose(fit_cues(moved, moved.usable).scores(moved), expected, atol=1e-2)


@pytest.mark.parametrize("document", [0, 7, 39])
def test_cross_fitted_scores_do_not_hang_on_the_labels_of_their_document(document: int) -> None:
    table = _table(_corpus())
    own = table.documents == document
    changed = dataclasses.replace(table, labels=table.labels ^ (own[:, None] & table.allowed))
    before, after = cross_fitted(table, seed=3), cross_fitted(changed, seed=3)
    assert own.any()
    assert np.array_equal(before[own], after[own])
    assert not np.allclose(before[~own], after[~own])


# ---- the whole reranker


def test_one_seed_gives_the_same_weights_and_another_seed_other_folds() -> None:
    documents = _corpus()
    one, again, other = _fitted(documents), _fitted(documents), _fitted(documents, seed=2)
    assert _same(one, again)
    assert torch.equal(one.cue_weights, other.cue_weights)
    assert not torch.equal(one.rival_weights, other.rival_weights)
    assert one.mix.tolist() == [0, 1, 0]


def test_a_pair_that_is_held_back_trains_nothing_but_is_a_rival() -> None:
    documents = _corpus()
    first, others = documents[0], documents[1:]
    assert first.pair_exclusions[0]

    def fitted(**pair: object) -> Reranker:
        changes = {f"pair_{name}": (value, *getattr(first, f"pair_{name}")[1:]) for name, value in pair.items()}
        return _fitted([dataclasses.replace(first, **changes), *others])

    plain = fitted()
    assert _same(plain, fitted(labels=()))
    assert _same(plain, fitted(labels=(1, 2)))
    louder = fitted(features=(9.0,) * len(FEATURES))  # scores otherwise
    for name in ("cue_weights", "feature_weights", "bias"):
        assert torch.equal(getattr(plain, name), getattr(louder, name))
    assert not torch.equal(plain.rival_weights, louder.rival_weights)


def test_a_pair_is_read_against_its_rivals() -> None:
    """One chemical of each document does it, and the cue says how likely each is; a strong rival speaks against it."""
    rng = random.Random(0)
    documents = []
    for number in range(80):
        strengths = [rng.randrange(6) for _ in range(4)]
        winner = max(range(4), key=lambda place: (strengths[place], place))
        documents.append(
            _chemicals_and_a_disease(
                [place == winner for place in range(4)], [range(strength) for strength in strengths], str(number)
            )
        )
    weights = _fitted(documents).rival_weights
    assert weights[0] > 0
    assert weights[[1, 2, 5, 6]].sum() < -0.1  # of the tail and of the document, here the same
    assert not weights[[3, 4]].abs().gt(1e-3).any()  # no two pairs share a head


@pytest.mark.parametrize(
    "documents",
    [
        [_chemicals_and_a_disease([True] * 4, [[1]] * 4)] * 6,
        [_chemicals_and_a_disease([False] * 4, [[1]] * 4)] * 6,
        [example(tokens=[5, 6])] * 3,
        [],
    ],
    ids=["positives", "negatives", "no pairs", "no documents"],
)
def test_a_corpus_of_one_class_leaves_scores_without_rivals(documents: list[Example]) -> None:
    reranker = _fitted(documents)
    assert reranker.rival_weights.tolist() == IDENTITY
    assert reranker.rival_bias == 0
    assert all(bool(weights.isfinite().all()) for weights in reranker.buffers())


@pytest.mark.parametrize("count", [1, FOLDS - 1])
def test_fewer_documents_than_folds(count: int) -> None:
    documents = [random_example(seed, 12, entities=6) for seed in range(count)]
    reranker = _fitted(documents)
    assert all(bool(weights.isfinite().all()) for weights in reranker.buffers())
    if count == 1:  # the one document was scored by a model that had seen nothing
        assert not cross_fitted(_table(documents), seed=1).any()


# ---- the mix


def _network() -> Bran:
    """Log-odds of 4 f - 2 from the feature `TELLING`, and of 4 c - 2 from the cue `TELLING`, and from nothing else."""
    model = tiny_reranked()
    assert model.features is not None
    assert model.reranker is not None
    with torch.no_grad():
        for part in (model.biaffine, model.features):
            for parameter in part.parameters():
                parameter.zero_()
        model.features.inner.weight[0, TELLING] = 1.0
        model.features.outer.weight[1:, 0] = 4.0
        model.features.outer.bias[0] = 2.0
    for weights in (model.reranker.cue_weights, model.reranker.feature_weights):
        weights.zero_()
    model.reranker.cue_weights[TELLING] = 4.0
    model.reranker.bias.fill_(-2.0)
    return model


def _dev(*, cue: str, network: str, held_back: bool = False, seed: int = 0) -> list[Example]:
    """100 documents of 4 pairs; cue and feature tell the truth (of nine pairs in ten), the opposite, or noise."""
    rng = random.Random(seed)

    def told(kind: str, truth: bool) -> bool:
        if kind == "noise":
            return rng.random() < 0.5
        return (truth if kind == "truth" else not truth) ^ (rng.random() < 0.1)

    documents = []
    for number in range(100):
        labels = [rng.random() < 0.4 for _ in range(4)]
        made = _chemicals_and_a_disease(
            labels, [(TELLING,) if told(cue, label) else (CUES - 1,) for label in labels], str(number)
        )
        features = tuple((float(told(network, label)), *[0.0] * (len(FEATURES) - 1)) for label in labels)
        made = dataclasses.replace(made, pair_features=features)
        if held_back:  # the same pairs once more, as what they are not
            wrong = [() if labels else BOTH for labels in made.pair_labels]
            made = dataclasses.replace(
                made,
                **{
                    name: (*getattr(made, name), *getattr(made, name))
                    for name in ("pair_heads", "pair_tails", "pair_features", "pair_lexical_features")
                },
                pair_labels=(*made.pair_labels, *wrong),
                pair_exclusions=("",) * 4 + ("hypernym",) * 4,
            )
        documents.append(made)
    return documents


def _mix(documents: Sequence[Example], model: Bran | None = None) -> list[float]:
    model = model or _network()
    fit_mix(model, documents, collator(), token_budget=60)
    assert model.reranker is not None
    return [float(weight) for weight in model.reranker.mix]


def test_what_is_noise_is_not_believed() -> None:
    _, cues, network = _mix(_dev(cue="truth", network="noise"))
    assert cues > 0.7
    assert network < 0.15
    _, cues, network = _mix(_dev(cue="noise", network="truth"))
    assert cues < 0.15
    assert network > 0.7


def test_two_sources_that_are_right_are_both_believed() -> None:
    _, cues, network = _mix(_dev(cue="truth", network="truth"))
    assert cues == pytest.approx(network, rel=0.3)
    assert min(cues, network) > 0.7


def test_no_weight_is_below_zero() -> None:
    assert _mix(_dev(cue="truth", network="opposite"))[2] == 0
    assert _mix(_dev(cue="opposite", network="truth"))[1] == 0


def test_pairs_that_are_held_back_are_not_asked() -> None:
    plain = _mix(_dev(cue="truth", network="truth"))
    assert _mix(_dev(cue="truth", network="truth", held_back=True)) == pytest.approx(plain, abs=1e-4)


@pytest.mark.parametrize(
    "documents",
    [
        [_chemicals_and_a_disease([True] * 3, [[1]] * 3)],
        [_chemicals_and_a_disease([False] * 3, [[1]] * 3)],
        [example(tokens=[3])],
    ],
    ids=["positives", "negatives", "no pairs"],
)
def test_dev_documents_of_one_class_believe_both_by_half(documents: list[Example]) -> None:
    assert _mix(documents) == [0.0, 0.5, 0.5]


def test_the_mix_does_not_hang_on_the_one_before_and_leaves_all_else() -> None:
    documents, model = _dev(cue="truth", network="truth"), _network()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    first = _mix(documents, model)
    assert _mix(documents, model) == first
    changed = [name for name, value in model.state_dict().items() if not torch.equal(value, before[name])]
    assert changed == ["reranker.mix"]
    assert not model.training


def test_a_network_without_a_reranker_is_left_as_it_is() -> None:
    model = tiny_bran().train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    fit_mix(model, _dev(cue="truth", network="truth"), collator(), token_budget=60)
    assert model.training
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
