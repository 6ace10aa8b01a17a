"""The reranker against loops over the pairs of each document."""

from __future__ import annotations

import dataclasses
import math

import pytest
import torch
from torch import Tensor

from biorel.model.batch import Batch
from biorel.model.competing_pairs import LOWEST, RIVALS
from biorel.model.reranker import Reranker, log_odds
from biorel.records import Example
from tests.builders import CUES, RELATION_TYPES, batch_of, example, random_example, tiny_reranked

RELATIONS = len(RELATION_TYPES)


def _documents(seed: int) -> list[Example]:
    """Three documents, of which the second has no pairs; the third has a pair for every relation and more."""
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
    """m of every pair and relation of one document; `scores` are those of its pairs, NULL first."""
    found = []
    for pair, row in enumerate(scores):
        mixed = []
        for relation in range(RELATIONS):
            cue_score = float(reranker.bias[relation])
            for bucket in document.pair_lexical_features[pair]:
                cue_score += float(reranker.cue_weights[bucket, relation])
            for place, value in enumerate(torch.tensor(document.pair_features[pair]).tolist()):  # rounded to float32
                cue_score += value * float(reranker.feature_weights[place, relation])
            start, cues, network = reranker.mix.tolist()
            mixed.append(start + cues * cue_score + network * (row[1 + relation] - row[0]))
        found.append(mixed)
    return found


def _final_by_loops(reranker: Reranker, document: Example, mixed: list[list[float]]) -> list[list[float]]:
    """z of every pair and relation, NULL at 0."""
    heads, tails = document.pair_heads, document.pair_tails
    types = [
        (document.entity_types[head], document.entity_types[tail]) for head, tail in zip(heads, tails, strict=True)
    ]
    found = []
    for pair in range(len(mixed)):
        row = [0.0]
        for relation, expected in enumerate(RELATION_TYPES):
            others = [one for one in range(len(mixed)) if one != pair and types[one] == expected]
            numbers = [max(LOWEST, mixed[pair][relation])]
            for rivals in (
                [one for one in others if tails[one] == tails[pair]],
                [one for one in others if heads[one] == heads[pair]],
                others,
            ):
                theirs = [max(LOWEST, mixed[one][relation]) for one in rivals]
                numbers.append(max(theirs, default=LOWEST))
                numbers.append(math.log1p(sum(math.exp(min(one, -LOWEST)) for one in theirs)))
            weighted = sum(w * n for w, n in zip(reranker.rival_weights.tolist(), numbers, strict=True))
            row.append(weighted + float(reranker.rival_bias))
        found.append(row)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_the_formula_by_loops(seed: int) -> None:
    documents, reranker = _documents(seed), _drawn(seed)
    batch = _double(batch_of(documents))
    scores = _scores(seed, batch.pairs)
    found = reranker(scores, batch)
    assert batch.pairs > 10
    assert found.shape == scores.shape
    for row, document in enumerate(documents):
        own = batch.pair_documents == row
        mixed = _mixed_by_loops(reranker, document, scores[own].tolist())
        expected = torch.tensor(_final_by_loops(reranker, document, mixed), dtype=torch.float64)
        allowed = batch.allowed[own]
        told = reranker.mixed(scores, batch)[own]
        torch.testing.assert_close(told, torch.tensor(mixed, dtype=torch.float64).reshape_as(told))
        torch.testing.assert_close(found[own][allowed], expected.reshape(-1, 1 + RELATIONS)[allowed])


def test_null_scores_zero() -> None:
    batch = _double(batch_of(_documents(1)))
    assert not _drawn(1)(_scores(1, batch.pairs), batch)[:, 0].any()


def test_no_pairs() -> None:
    batch = _double(batch_of([example(tokens=[5, 6])]))
    reranker = _drawn(0)
    assert reranker.cue_scores(batch).shape == (0, RELATIONS)
    assert reranker(_scores(0, 0), batch).shape == (0, 1 + RELATIONS)


@pytest.mark.parametrize("cues", [[(), (3,), ()], [(), (), ()], [(1, 2), (), (2,)]])
def test_a_pair_without_cues_is_scored_by_its_features_alone(cues: list[tuple[int, ...]]) -> None:
    document = example(
        tokens=[2, 3, 4, 5],
        entities=[("Chemical", [(0, 1)]), *[("Disease", [(place, place + 1)]) for place in (1, 2, 3)]],
        pairs=[(0, 1, ()), (0, 2, ()), (0, 3, ())],
        cues=cues,
    )
    reranker, batch = _drawn(2), _double(batch_of([document]))
    bare = batch.pair_features @ reranker.feature_weights + reranker.bias
    lexical = torch.stack([reranker.cue_weights[list(row)].sum(0) for row in cues])
    torch.testing.assert_close(reranker.cue_scores(batch), bare + lexical)


def test_as_built_it_leaves_the_log_odds_as_they_are() -> None:
    batch = batch_of(_documents(3))
    features = batch.pair_features.shape[1]
    reranker = Reranker(cues=CUES, features=features, relations=RELATIONS)
    scores = _scores(3, batch.pairs).float()
    given = log_odds(scores)
    assert (given < LOWEST).any()
    assert (given > LOWEST).any()
    torch.testing.assert_close(log_odds(reranker(scores, batch)), given.clamp(min=LOWEST))


def test_its_weights_are_buffers_that_are_saved() -> None:
    reranker = Reranker(cues=CUES, features=5, relations=2)
    assert not list(reranker.parameters())
    assert {name: tuple(value.shape) for name, value in reranker.state_dict().items()} == {
        "cue_weights": (CUES, 2),
        "feature_weights": (5, 2),
        "bias": (2,),
        "mix": (3,),
        "rival_weights": (RIVALS,),
        "rival_bias": (),
    }
