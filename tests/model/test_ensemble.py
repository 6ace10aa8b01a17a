"""An ensemble tells the mean of its members' probabilities, wherever a network stands."""

from __future__ import annotations

import pytest
import torch

from biorel.errors import ModelError
from biorel.model.bran import Bran, probabilities
from biorel.model.checkpoint import load_weights, network_from_dict, network_to_dict, save_weights
from biorel.model.ensemble import Ensemble
from biorel.training.inference import predict
from tests.builders import CUES, batch_of, collator, random_example, scrambled, tiny_bran, tiny_reranked

EXAMPLES = [random_example(seed, length) for seed, length in ((1, 20), (2, 9), (3, 70))]  # the last one in windows
CPU = torch.device("cpu")


def members() -> list[Bran]:
    """Three networks that differ in weights, width and depth."""
    networks = (tiny_bran(seed=1), tiny_bran(seed=2, width=12), tiny_bran(seed=3, blocks=1))
    return [scrambled(network, seed) for seed, network in enumerate(networks)]


def batch():
    made = batch_of(EXAMPLES)
    return type(made)(**{**vars(made), "pair_features": made.pair_features.double()})


@torch.no_grad()
def test_pairs_and_tags_are_the_mean_of_the_members_probabilities():
    networks = members()
    parts = [network(batch()) for network in networks]
    told = Ensemble(networks)(batch())
    expected = torch.stack([probabilities(part.pairs) for part in parts]).mean(0)
    assert torch.stack([probabilities(part.pairs) for part in parts]).std(0).max() > 0.05
    torch.testing.assert_close(probabilities(told.pairs), expected)
    torch.testing.assert_close(told.ner.softmax(-1), torch.stack([part.ner.softmax(-1) for part in parts]).mean(0))
    torch.testing.assert_close(told.links, torch.stack([part.links for part in parts]).mean(0))


@torch.no_grad()
def test_a_relation_that_the_types_of_a_pair_forbid_stays_at_zero():
    forbidden = ~batch().allowed
    assert forbidden.any()
    assert probabilities(Ensemble(members())(batch()).pairs)[forbidden].max() == 0


@torch.no_grad()
def test_one_member_tells_what_it_tells_alone():
    network = members()[0]
    alone, joined = network(batch()), Ensemble([network])(batch())
    torch.testing.assert_close(probabilities(joined.pairs), probabilities(alone.pairs))
    torch.testing.assert_close(joined.links, alone.links)


@torch.no_grad()
def test_members_with_rerankers_tell_the_mean_of_their_final_probabilities():
    networks = [tiny_reranked(seed=seed, width=width).eval() for seed, width in ((1, 8), (2, 12), (3, 8))]
    bare = [tiny_bran(seed=seed, width=width).eval() for seed, width in ((1, 8), (2, 12), (3, 8))]
    given = batch_of(EXAMPLES)
    expected = torch.stack([probabilities(network(given).pairs) for network in networks]).mean(0)
    told = probabilities(Ensemble(networks).eval()(given).pairs)
    torch.testing.assert_close(told, expected)
    assert told[~given.allowed].max() == 0
    assert not torch.allclose(told, probabilities(Ensemble(bare).eval()(given).pairs), atol=1e-2)


def test_documents_are_read_as_by_one_network_evidence_and_windows_too():
    networks = [network.float() for network in members()]
    collate = collator()

    def read(network):
        found = predict(network, EXAMPLES, collate, token_budget=100, device=CPU)
        return sorted(found, key=lambda one: one.index)

    parts = [read(network) for network in networks]
    for number, one in enumerate(read(Ensemble(networks))):
        mean = sum(part[number].pairs for part in parts) / len(parts)
        assert one.pairs == pytest.approx(mean, abs=1e-5)
        assert one.tags.shape == (len(EXAMPLES[number].token_ids),)
        for pair in range(len(one.pairs)):
            of_pair = one.link_pairs == pair
            assert one.links[of_pair].sum(0) == pytest.approx(1, abs=1e-5)
            # the share of a link, from the geometric mean of what the members give it
            logs = sum(torch.tensor(part[number].links[of_pair]).log() for part in parts) / len(parts)
            assert one.links[of_pair] == pytest.approx(logs.softmax(0).numpy(), abs=1e-5)


@pytest.mark.parametrize(
    "change",
    [
        *({"vocabulary": 31}, {"ner_labels": 5}, {"features": False}, {"cues": CUES}),
        *({"positions": 30}, {"units": "tokens"}),
    ],
)
def test_members_that_read_or_tell_otherwise_are_refused(change):
    with pytest.raises(ValueError, match="read and tell the same"):
        Ensemble([tiny_bran(), tiny_bran(**change)])
    with pytest.raises(ValueError, match="read and tell the same"):
        Ensemble([])


@torch.no_grad()
def test_saved_and_read_again_it_tells_the_same(tmp_path):
    saved = Ensemble([network.float() for network in members()])
    path = tmp_path / "model.safetensors"
    save_weights(saved, path)
    again = network_from_dict(network_to_dict(saved))
    load_weights(again, path)
    assert isinstance(again, Ensemble)
    assert not again.training
    assert torch.equal(again(batch_of(EXAMPLES)).pairs, saved(batch_of(EXAMPLES)).pairs)
    with pytest.raises(ModelError, match=r"does not fit config\.json"):
        load_weights(Ensemble([tiny_bran()]), path)


@pytest.mark.parametrize("members", [None, [], ["x"], [{"width": 8}]])
def test_a_config_without_its_members_is_told(members):
    with pytest.raises(ModelError, match=r"config\.json"):
        network_from_dict({"model": "ensemble", "members": members})


def test_triage_scores_are_the_mean_of_the_members() -> None:
    members = [tiny_bran(seed=seed, task="triage").eval() for seed in (1, 2)]
    batch = batch_of([random_example(3, 12), random_example(4, 9)])
    with torch.no_grad():
        alone = [member(batch).documents for member in members]
        together = Ensemble(members)(batch).documents
    assert torch.allclose(together, torch.stack(alone).mean(0))
