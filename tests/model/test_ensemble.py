"""An ensemble predicts the mean of its members' probabilities and can replace a network."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from biorel.errors import ModelError
from biorel.model.bran import Bran, probabilities
from biorel.model.checkpoint import load_weights, network_from_dict, network_to_dict, save_weights
from biorel.model.ensemble import Ensemble
from biorel.training.inference import predict
from tests.builders import LEXICAL_FEATURES, batch_of, collator, random_example, scrambled, tiny_bran, tiny_reranked

EXAMPLES = [
    random_example(seed, length) for seed, length in ((1, 20), (2, 9), (3, 70))
]  # the last one is read in windows
CPU = torch.device("cpu")


def members() -> list[Bran]:
    """Three networks that differ in weights, width and depth."""
    networks = (tiny_bran(seed=1), tiny_bran(seed=2, width=12), tiny_bran(seed=3, blocks=1))
    return [scrambled(network, seed) for seed, network in enumerate(networks)]


def batch():
    single = batch_of(EXAMPLES)
    return replace(single, pair_features=single.pair_features.double())


@torch.no_grad()
def test_pair_and_tag_probabilities_are_the_members_means():
    networks = members()
    parts = [network(batch()) for network in networks]
    output = Ensemble(networks)(batch())
    expected = torch.stack([probabilities(part.pair_scores) for part in parts]).mean(0)
    assert torch.stack([probabilities(part.pair_scores) for part in parts]).std(0).max() > 0.05
    torch.testing.assert_close(probabilities(output.pair_scores), expected)
    torch.testing.assert_close(
        output.ner_scores.softmax(-1), torch.stack([part.ner_scores.softmax(-1) for part in parts]).mean(0)
    )
    torch.testing.assert_close(
        output.mention_pair_scores, torch.stack([part.mention_pair_scores for part in parts]).mean(0)
    )


@torch.no_grad()
def test_a_relation_with_other_argument_types_has_probability_zero():
    forbidden = ~batch().allowed
    assert forbidden.any()
    assert probabilities(Ensemble(members())(batch()).pair_scores)[forbidden].max() == 0


@torch.no_grad()
def test_an_ensemble_of_one_equals_its_member():
    network = members()[0]
    alone, joined = network(batch()), Ensemble([network])(batch())
    torch.testing.assert_close(probabilities(joined.pair_scores), probabilities(alone.pair_scores))
    torch.testing.assert_close(joined.mention_pair_scores, alone.mention_pair_scores)


@torch.no_grad()
def test_members_with_rerankers_contribute_their_final_probabilities():
    networks = [tiny_reranked(seed=seed, width=width).eval() for seed, width in ((1, 8), (2, 12), (3, 8))]
    bare = [tiny_bran(seed=seed, width=width).eval() for seed, width in ((1, 8), (2, 12), (3, 8))]
    given = batch_of(EXAMPLES)
    expected = torch.stack([probabilities(network(given).pair_scores) for network in networks]).mean(0)
    found = probabilities(Ensemble(networks).eval()(given).pair_scores)
    torch.testing.assert_close(found, expected)
    assert found[~given.allowed].max() == 0
    assert not torch.allclose(found, probabilities(Ensemble(bare).eval()(given).pair_scores), atol=1e-2)


def test_inference_windows_and_evidence_work_as_with_one_network():
    networks = [network.float() for network in members()]
    collate = collator()

    def read(network):
        found = predict(network, EXAMPLES, collate, token_budget=100, device=CPU)
        return sorted(found, key=lambda prediction: prediction.index)

    parts = [read(network) for network in networks]
    for number, prediction in enumerate(read(Ensemble(networks))):
        mean = sum(part[number].pair_probabilities for part in parts) / len(parts)
        assert prediction.pair_probabilities == pytest.approx(mean, abs=1e-5)
        assert prediction.tags.shape == (len(EXAMPLES[number].token_ids),)
        for pair in range(len(prediction.pair_probabilities)):
            of_pair = prediction.entity_pairs == pair
            assert prediction.mention_pair_weights[of_pair].sum(0) == pytest.approx(1, abs=1e-5)
            # the weight of a mention pair is the geometric mean of the members' weights, normalised
            logs = sum(torch.tensor(part[number].mention_pair_weights[of_pair]).log() for part in parts) / len(parts)
            assert prediction.mention_pair_weights[of_pair] == pytest.approx(logs.softmax(0).numpy(), abs=1e-5)


@pytest.mark.parametrize(
    "change",
    [
        *({"vocabulary": 31}, {"ner_labels": 5}, {"features": False}, {"lexical_features": LEXICAL_FEATURES}),
        *({"positions": 30}, {"span_pooling": "tokens"}),
    ],
)
def test_rejects_members_with_other_inputs_or_outputs(change):
    with pytest.raises(ValueError, match="must have the same inputs and outputs"):
        Ensemble([tiny_bran(), tiny_bran(**change)])
    with pytest.raises(ValueError, match="must have the same inputs and outputs"):
        Ensemble([])


@torch.no_grad()
def test_a_saved_and_loaded_ensemble_has_the_same_scores(tmp_path):
    saved = Ensemble([network.float() for network in members()])
    path = tmp_path / "model.safetensors"
    save_weights(saved, path)
    loaded = network_from_dict(network_to_dict(saved))
    load_weights(loaded, path)
    assert isinstance(loaded, Ensemble)
    assert not loaded.training
    assert torch.equal(loaded(batch_of(EXAMPLES)).pair_scores, saved(batch_of(EXAMPLES)).pair_scores)
    with pytest.raises(ModelError, match=r"does not match config\.json"):
        load_weights(Ensemble([tiny_bran()]), path)


@pytest.mark.parametrize("members", [None, [], ["x"], [{"width": 8}]])
def test_rejects_a_configuration_without_members(members):
    with pytest.raises(ModelError, match=r"config\.json"):
        network_from_dict({"model": "ensemble", "members": members})


def test_triage_scores_are_the_mean_of_the_members() -> None:
    members = [tiny_bran(seed=seed, task="triage").eval() for seed in (1, 2)]
    batch = batch_of([random_example(3, 12), random_example(4, 9)])
    with torch.no_grad():
        alone = [member(batch).document_scores for member in members]
        together = Ensemble(members)(batch).document_scores
    assert torch.allclose(together, torch.stack(alone).mean(0))
