"""The reranker equals loops over the pairs of each document."""

from __future__ import annotations

import dataclasses
import math

import pytest
import torch
from torch import Tensor

from biorel.model.batch import Batch
from biorel.model.competing_pairs import COMPETING_FEATURES, LOWEST
from biorel.model.reranker import Reranker, log_odds
from biorel.records import Example
from tests.builders import LEXICAL_FEATURES, RELATION_TYPES, batch_of, example, random_example, tiny_reranked

RELATIONS = len(RELATION_TYPES)


def _documents(seed: int) -> list[Example]:
    """Three documents: the second has no pairs, and the third has several pairs for each relation."""
    return [random_example(seed, 20, entities=6), example(tokens=[5]), random_example(seed + 50, 9, entities=9)]


def _double(batch: Batch) -> Batch:
    return dataclasses.replace(batch, pair_features=batch.pair_features.double())


def _drawn(seed: int) -> Reranker:
    reranker = tiny_reranked(seed=seed).double().reranker
    assert reranker is not None
    return reranker


def _scores(seed: int, pairs: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(pairs, 1 + RELATIONS, generator=generator, dtype=torch.float64) * 3


def _mixed_by_loops(reranker: Reranker, document: Example, scores: list[list[float]]) -> list[list[float]]:
    """m of every pair and relation of one document, from the scores of its pairs with NULL in column 0."""
    found = []
    for pair, row in enumerate(scores):
        mixed = []
        for relation in range(RELATIONS):
            lexical_score = float(reranker.bias[relation])
            for bucket in document.pair_lexical_features[pair]:
                lexical_score += float(reranker.lexical_weights[bucket, relation])
            for place, value in enumerate(torch.tensor(document.pair_features[pair]).tolist()):  # rounded to float32
                lexical_score += value * float(reranker.feature_weights[place, relation])
            start, of_lexical, of_network = reranker.mix.tolist()
            mixed.append(start + of_lexical * lexical_score + of_network * (row[1 + relation] - row[0]))
        found.append(mixed)
    return found


def _final_by_loops(reranker: Reranker, document: Example, mixed: list[list[float]]) -> list[list[float]]:
    """z of every pair and relation; z of NULL is 0."""
    heads, tails = document.pair_heads, document.pair_tails
    types = [
        (document.entity_types[head], document.entity_types[tail]) for head, tail in zip(heads, tails, strict=True)
    ]
    found = []
    for pair in range(len(mixed)):
        row = [0.0]
        for relation, expected in enumerate(RELATION_TYPES):
            others = [other for other in range(len(mixed)) if other != pair and types[other] == expected]
            numbers = [max(LOWEST, mixed[pair][relation])]
            for competing in (
                [other for other in others if tails[other] == tails[pair]],
                [other for other in others if heads[other] == heads[pair]],
                others,
            ):
                scores = [max(LOWEST, mixed[other][relation]) for other in competing]
                numbers.append(max(scores, default=LOWEST))
                numbers.append(math.log1p(sum(math.exp(min(score, -LOWEST)) for score in scores)))
            weighted = sum(w * n for w, n in zip(reranker.competing_weights.tolist(), numbers, strict=True))
            row.append(weighted + float(reranker.competing_bias))
        found.append(row)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_scores_equal_loops_over_pairs(seed: int) -> None:
    documents, reranker = _documents(seed), _drawn(seed)
    batch = _double(batch_of(documents))
    scores = _scores(seed, batch.pair_count)
    found = reranker(scores, batch)
    assert batch.pair_count > 10
    assert found.shape == scores.shape
    for row, document in enumerate(documents):
        own = batch.pair_documents == row
        mixed = _mixed_by_loops(reranker, document, scores[own].tolist())
        expected = torch.tensor(_final_by_loops(reranker, document, mixed), dtype=torch.float64)
        allowed = batch.allowed[own]
        found_mixed = reranker.mixed(scores, batch)[own]
        expected_mixed = torch.tensor(mixed, dtype=torch.float64).reshape_as(found_mixed)
        torch.testing.assert_close(found_mixed, expected_mixed)
        torch.testing.assert_close(found[own][allowed], expected.reshape(-1, 1 + RELATIONS)[allowed])


def test_null_scores_zero() -> None:
    batch = _double(batch_of(_documents(1)))
    assert not _drawn(1)(_scores(1, batch.pair_count), batch)[:, 0].any()


def test_accepts_a_batch_without_pairs() -> None:
    batch = _double(batch_of([example(tokens=[5, 6])]))
    reranker = _drawn(0)
    assert reranker.lexical_scores(batch).shape == (0, RELATIONS)
    assert reranker(_scores(0, 0), batch).shape == (0, 1 + RELATIONS)


@pytest.mark.parametrize("lexical_features", [[(), (3,), ()], [(), (), ()], [(1, 2), (), (2,)]])
def test_a_pair_without_lexical_features_is_scored_by_its_pair_features(
    lexical_features: list[tuple[int, ...]],
) -> None:
    document = example(
        tokens=[2, 3, 4, 5],
        entities=[("Chemical", [(0, 1)]), *[("Disease", [(place, place + 1)]) for place in (1, 2, 3)]],
        pairs=[(0, 1, ()), (0, 2, ()), (0, 3, ())],
        lexical_features=lexical_features,
    )
    reranker, batch = _drawn(2), _double(batch_of([document]))
    without_lexical = batch.pair_features @ reranker.feature_weights + reranker.bias
    lexical = torch.stack([reranker.lexical_weights[list(row)].sum(0) for row in lexical_features])
    torch.testing.assert_close(reranker.lexical_scores(batch), without_lexical + lexical)


def test_a_new_reranker_keeps_the_log_odds() -> None:
    batch = batch_of(_documents(3))
    features = batch.pair_features.shape[1]
    reranker = Reranker(lexical_features=LEXICAL_FEATURES, pair_features=features, relations=RELATIONS)
    scores = _scores(3, batch.pair_count).float()
    before = log_odds(scores)
    assert (before < LOWEST).any()
    assert (before > LOWEST).any()
    torch.testing.assert_close(log_odds(reranker(scores, batch)), before.clamp(min=LOWEST))


def test_its_weights_are_saved_buffers() -> None:
    reranker = Reranker(lexical_features=LEXICAL_FEATURES, pair_features=5, relations=2)
    assert not list(reranker.parameters())
    assert {name: tuple(value.shape) for name, value in reranker.state_dict().items()} == {
        "lexical_weights": (LEXICAL_FEATURES, 2),
        "feature_weights": (5, 2),
        "bias": (2,),
        "mix": (3,),
        "competing_weights": (COMPETING_FEATURES,),
        "competing_bias": (),
    }
