"""The reranker is fitted on synthetic corpora whose informative features are known."""

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
from biorel.model.competing_pairs import COMPETING_FEATURES
from biorel.model.reranker import Reranker
from biorel.records import Example
from biorel.training.rerank import (
    FOLDS,
    MIN_COUNT,
    PairTable,
    cross_fitted_scores,
    fit_lexical_model,
    fit_mix,
    fit_reranker,
    pair_table,
)
from tests.builders import (
    LEXICAL_FEATURES,
    RELATION_TYPES,
    batch_of,
    collator,
    example,
    random_example,
    tiny_bran,
    tiny_reranked,
)

RELATIONS = len(RELATION_TYPES)
INFORMATIVE = 0  # the lexical feature, and the pair feature, that indicate positive pairs
BOTH = (1, 2)  # the relations between a chemical and a disease
IDENTITY = [1.0] + [0.0] * (COMPETING_FEATURES - 1)


def _corpus(count: int = 40) -> list[Example]:
    """Documents with pairs of all relations and random labels and features; a pair of the first one is excluded."""
    documents = [random_example(seed, 12, entities=6) for seed in range(count)]
    drops = ("hypernym", *[""] * (len(documents[0].pair_heads) - 1))
    return [dataclasses.replace(documents[0], pair_exclusions=drops), *documents[1:]]


def _table(documents: Sequence[Example]) -> PairTable:
    return pair_table(documents, RELATION_TYPES, len(FEATURES))


def _fitted(documents: Sequence[Example], seed: int = 1) -> Reranker:
    reranker = Reranker(lexical_features=BUCKETS, pair_features=len(FEATURES), relations=RELATIONS)
    fit_reranker(reranker, documents, collator(), seed=seed)
    return reranker


def _same(first: Reranker, other: Reranker) -> bool:
    return all(torch.equal(*pair) for pair in zip(first.buffers(), other.buffers(), strict=True))


def _chemicals_and_a_disease(
    labels: Sequence[bool], lexical_features: Sequence[Sequence[int]], doc_id: str = "1"
) -> Example:
    """One pair for each label, between a separate chemical and the one disease, with both relations or NULL."""
    count = len(labels)
    return example(
        tokens=[2 + number % 20 for number in range(count + 1)],
        entities=[("Disease", [(0, 1)]), *[("Chemical", [(place, place + 1)]) for place in range(1, count + 1)]],
        pairs=[(chemical, 0, BOTH if label else ()) for chemical, label in enumerate(labels, start=1)],
        lexical_features=lexical_features,
        doc_id=doc_id,
    )


# ---- the table of pairs


def test_the_table_holds_the_values_of_a_batch() -> None:
    documents = [random_example(3, 12, entities=6), example(tokens=[4]), random_example(4, 9)]
    table, batch = _table(documents), batch_of(documents)
    assert len(table.usable) == batch.pair_count > 8
    assert np.array_equal(table.allowed, batch.allowed[:, 1:].numpy())
    assert np.array_equal(table.labels, batch.labels[:, 1:].numpy())
    np.testing.assert_allclose(table.features, batch.pair_features.numpy(), atol=1e-6)
    assert np.array_equal(table.documents, batch.pair_documents.numpy())
    for ours, theirs in ((table.heads, batch.pair_heads), (table.tails, batch.pair_tails)):
        assert np.array_equal(ours[:, None] == ours, (theirs[:, None] == theirs).numpy())
    starts = [*batch.lexical_starts.tolist(), len(batch.lexical_features)]
    rows = [sorted(batch.lexical_features[begin:end].tolist()) for begin, end in pairwise(starts)]
    assert rows == [sorted(table.lexical[pair].indices.tolist()) for pair in range(batch.pair_count)]


def test_the_fitted_reranker_has_the_lexical_scores_of_the_linear_model() -> None:
    documents = _corpus()
    table, batch = _table(documents), batch_of(documents)
    expected = fit_lexical_model(table, table.usable).scores(table)
    assert np.abs(expected).max() > 1
    np.testing.assert_allclose(_fitted(documents).lexical_scores(batch).numpy(), expected, atol=1e-4)


# ---- the linear model of lexical features


def test_a_rare_lexical_feature_has_no_weight() -> None:
    labels = [number % 2 == 0 for number in range(40)]
    lexical_features = [
        [7] if number < MIN_COUNT - 1 else [8] if number < 2 * MIN_COUNT - 1 else [9] for number in range(40)
    ]
    table = _table([_chemicals_and_a_disease(labels, lexical_features)])
    weights = fit_lexical_model(table, table.usable).lexical[:, 0]
    assert weights[7] == 0
    assert weights[8] != 0
    assert np.flatnonzero(weights).tolist() == [8, 9]
    # pairs outside of the rows do not count
    fewer = table.usable.copy()
    fewer[MIN_COUNT] = False
    assert np.flatnonzero(fit_lexical_model(table, fewer).lexical[:, 0]).tolist() == [9]


@pytest.mark.parametrize("positive", [False, True])
def test_a_relation_without_positives_or_without_negatives_gets_only_a_bias(positive: bool) -> None:
    table = _table([_chemicals_and_a_disease([positive] * 9, [[7]] * 9)])
    model = fit_lexical_model(table, table.usable)
    assert not model.lexical.any()
    assert not model.features.any()
    assert model.bias[0] == pytest.approx(np.log(9.5 / 0.5) * (1 if positive else -1))
    assert model.bias[2] == 0  # no pair has its argument types


def test_scores_do_not_depend_on_the_scale_of_the_features() -> None:
    """The regression standardises the features, so that their scale and offset do not matter."""
    documents = _corpus()
    table = _table(documents)
    moved = dataclasses.replace(table, features=table.features * 7 + 3)
    expected = fit_lexical_model(table, table.usable).scores(table)
    np.testing.assert_allclose(fit_lexical_model(moved, moved.usable).scores(moved), expected, atol=1e-2)


@pytest.mark.parametrize("document", [0, 7, 39])
def test_cross_fitted_scores_do_not_depend_on_the_labels_of_their_document(document: int) -> None:
    table = _table(_corpus())
    own = table.documents == document
    changed = dataclasses.replace(table, labels=table.labels ^ (own[:, None] & table.allowed))
    before, after = cross_fitted_scores(table, seed=3), cross_fitted_scores(changed, seed=3)
    assert own.any()
    assert np.array_equal(before[own], after[own])
    assert not np.allclose(before[~own], after[~own])


# ---- the whole reranker


def test_the_same_seed_gives_the_same_weights_and_another_seed_other_folds() -> None:
    documents = _corpus()
    first, second, other = _fitted(documents), _fitted(documents), _fitted(documents, seed=2)
    assert _same(first, second)
    assert torch.equal(first.lexical_weights, other.lexical_weights)
    assert not torch.equal(first.competing_weights, other.competing_weights)
    assert first.mix.tolist() == [0, 1, 0]


def test_an_excluded_pair_trains_nothing_but_competes() -> None:
    documents = _corpus()
    first, others = documents[0], documents[1:]
    assert first.pair_exclusions[0]

    def fitted(**pair: object) -> Reranker:
        changes = {f"pair_{name}": (value, *getattr(first, f"pair_{name}")[1:]) for name, value in pair.items()}
        return _fitted([dataclasses.replace(first, **changes), *others])

    plain = fitted()
    assert _same(plain, fitted(labels=()))
    assert _same(plain, fitted(labels=(1, 2)))
    changed = fitted(features=(9.0,) * len(FEATURES))  # so that its score differs
    for name in ("lexical_weights", "feature_weights", "bias"):
        assert torch.equal(getattr(plain, name), getattr(changed, name))
    assert not torch.equal(plain.competing_weights, changed.competing_weights)


def test_a_strong_competing_pair_lowers_a_score() -> None:
    """One chemical of each document is related, and lexical features show how likely each is."""
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
    weights = _fitted(documents).competing_weights
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
def test_a_corpus_of_one_class_gives_competing_pairs_no_weight(documents: list[Example]) -> None:
    reranker = _fitted(documents)
    assert reranker.competing_weights.tolist() == IDENTITY
    assert reranker.competing_bias == 0
    assert all(bool(weights.isfinite().all()) for weights in reranker.buffers())


@pytest.mark.parametrize("count", [1, FOLDS - 1])
def test_accepts_fewer_documents_than_folds(count: int) -> None:
    documents = [random_example(seed, 12, entities=6) for seed in range(count)]
    reranker = _fitted(documents)
    assert all(bool(weights.isfinite().all()) for weights in reranker.buffers())
    if count == 1:  # the one document was scored by a model that was fitted on nothing
        assert not cross_fitted_scores(_table(documents), seed=1).any()


# ---- the mix


def _network() -> Bran:
    """BRAN's log-odds are 4 f - 2, the lexical ones 4 c - 2, for the values f and c of the features `INFORMATIVE`."""
    model = tiny_reranked()
    assert model.pair_features is not None
    assert model.reranker is not None
    with torch.no_grad():
        for part in (model.biaffine, model.pair_features):
            for parameter in part.parameters():
                parameter.zero_()
        model.pair_features.inner.weight[0, INFORMATIVE] = 1.0
        model.pair_features.outer.weight[1:, 0] = 4.0
        model.pair_features.outer.bias[0] = 2.0
    for weights in (model.reranker.lexical_weights, model.reranker.feature_weights):
        weights.zero_()
    model.reranker.lexical_weights[INFORMATIVE] = 4.0
    model.reranker.bias.fill_(-2.0)
    return model


def _dev(*, lexical: str, network: str, with_excluded: bool = False, seed: int = 0) -> list[Example]:
    """100 documents of 4 pairs. A source is right for nine pairs in ten (`truth`), wrong for them, or random."""
    rng = random.Random(seed)

    def value(kind: str, truth: bool) -> bool:
        if kind == "noise":
            return rng.random() < 0.5
        return (truth if kind == "truth" else not truth) ^ (rng.random() < 0.1)

    documents = []
    for number in range(100):
        labels = [rng.random() < 0.4 for _ in range(4)]
        made = _chemicals_and_a_disease(
            labels,
            [(INFORMATIVE,) if value(lexical, label) else (LEXICAL_FEATURES - 1,) for label in labels],
            str(number),
        )
        features = tuple((float(value(network, label)), *[0.0] * (len(FEATURES) - 1)) for label in labels)
        made = dataclasses.replace(made, pair_features=features)
        if with_excluded:  # repeat the pairs with wrong labels
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


def test_a_random_source_gets_little_weight() -> None:
    _, lexical, network = _mix(_dev(lexical="truth", network="noise"))
    assert lexical > 0.7
    assert network < 0.15
    _, lexical, network = _mix(_dev(lexical="noise", network="truth"))
    assert lexical < 0.15
    assert network > 0.7


def test_two_good_sources_get_similar_weights() -> None:
    _, lexical, network = _mix(_dev(lexical="truth", network="truth"))
    assert lexical == pytest.approx(network, rel=0.3)
    assert min(lexical, network) > 0.7


def test_no_weight_is_negative() -> None:
    assert _mix(_dev(lexical="truth", network="opposite"))[2] == 0
    assert _mix(_dev(lexical="opposite", network="truth"))[1] == 0


def test_excluded_pairs_do_not_affect_the_mix() -> None:
    plain = _mix(_dev(lexical="truth", network="truth"))
    assert _mix(_dev(lexical="truth", network="truth", with_excluded=True)) == pytest.approx(plain, abs=1e-4)


@pytest.mark.parametrize(
    "documents",
    [
        [_chemicals_and_a_disease([True] * 3, [[1]] * 3)],
        [_chemicals_and_a_disease([False] * 3, [[1]] * 3)],
        [example(tokens=[3])],
    ],
    ids=["positives", "negatives", "no pairs"],
)
def test_dev_documents_of_one_class_give_equal_weights(documents: list[Example]) -> None:
    assert _mix(documents) == [0.0, 0.5, 0.5]


def test_fitting_the_mix_is_repeatable_and_changes_nothing_else() -> None:
    documents, model = _dev(lexical="truth", network="truth"), _network()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    first = _mix(documents, model)
    assert _mix(documents, model) == first
    changed = [name for name, value in model.state_dict().items() if not torch.equal(value, before[name])]
    assert changed == ["reranker.mix"]
    assert not model.training


def test_a_network_without_a_reranker_does_not_change() -> None:
    model = tiny_bran().train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    fit_mix(model, _dev(lexical="truth", network="truth"), collator(), token_budget=60)
    assert model.training
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
