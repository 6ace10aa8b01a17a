"""The whole network: what AllenNLP's model_test_case asks of a model, and BRAN's own rules."""

import dataclasses
from pathlib import Path

import pytest
import torch

from biorel.model.batch import Batch
from biorel.model.bran import FORBIDDEN, Bran, Output, probabilities
from biorel.model.checkpoint import load_weights, network_from_dict, network_to_dict, save_weights
from biorel.model.losses import ner_loss, relation_loss
from biorel.model.pooling import pool_links
from biorel.records import Example
from tests.builders import CUES, RELATION_TYPES, batch_of, example, random_example, tiny_bran, tiny_reranked

UNITS = ("mentions", "tokens")
POSITIONS = 24


@pytest.fixture
def documents() -> list[Example]:
    """Short and long, with and without pairs; the fourth is longer than the positions."""
    return [
        random_example(1, 9),
        random_example(2, 20, entities=6),
        example(tokens=[5, 6, 7], entities=[("Chemical", [(0, 2)]), ("Chemical", [(2, 3)])]),
        random_example(3, 53, entities=5),
        example(tokens=[4]),
        random_example(4, 24),
    ]


def _run(model: Bran, batch: Batch) -> Output:
    with torch.no_grad():
        return model.eval()(batch)


def _per_document(output: Output, batch: Batch) -> list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    """Pair scores, link scores and BIO scores of each document of a batch."""
    link_documents = batch.pair_documents[batch.link_pairs]
    return [
        (
            output.pairs[batch.pair_documents == row],
            output.links[link_documents == row],
            output.ner[row][batch.token_mask[row]],
        )
        for row in range(batch.token_ids.shape[0])
    ]


@pytest.mark.parametrize(("features", "cues"), [(True, 0), (False, 0), (True, CUES)])
@pytest.mark.parametrize("units", UNITS)
def test_a_document_scores_the_same_alone_and_in_any_batch(
    documents: list[Example], units: str, features: bool, cues: int
) -> None:
    model = tiny_reranked(cues=cues) if cues else tiny_bran(features=features)
    kind = {"units": units, "features": features}
    alone = []
    for index in range(len(documents)):
        batch = batch_of(documents, index, **kind)
        alone.append(_per_document(_run(model, batch), batch)[0])
    assert sum(len(pairs) for pairs, _, _ in alone) > 20
    for order in [(0, 1, 2, 3, 4, 5), (5, 3, 1, 0), (2, 0), (4, 2, 1), (0, 3)]:
        batch = batch_of(documents, *order, **kind)
        for index, found in zip(order, _per_document(_run(model, batch), batch), strict=True):
            for one, other in zip(found, alone[index], strict=True):
                torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("units", UNITS)
def test_a_gradient_reaches_every_parameter(units: str) -> None:
    documents = [random_example(seed, 24, entities=6) for seed in range(4)]
    model = tiny_bran().train()
    batch = batch_of(documents, units=units)
    torch.manual_seed(0)
    output = model(batch)
    loss = relation_loss(output.pairs, batch.labels, positive_weight=2.0)
    (loss + ner_loss(output.ner, batch.ner_labels, batch.token_mask)).backward()
    parts = {name.split(".")[0] for name, _ in model.named_parameters()}
    assert parts == {"embedding", "encoder", "head", "tail", "biaffine", "features", "ner"}
    missed = [
        name for name, parameter in model.named_parameters() if parameter.grad is None or not parameter.grad.any()
    ]
    assert missed == []
    assert all(torch.isfinite(parameter.grad).all() for parameter in model.parameters())
    assert (model.embedding.positions.weight.grad.abs().sum(1) > 0).all()
    assert (model.biaffine.weight.grad.abs().sum((0, 2)) > 0).all()


def test_relations_alone_train_the_encoder_and_so_do_entity_types_alone() -> None:
    documents = [random_example(seed, 12) for seed in range(3)]
    batch = batch_of(documents)
    for losses, untouched in (("relations", {"ner"}), ("ner", {"head", "tail", "biaffine", "features"})):
        model = tiny_bran().eval()
        output = model(batch)
        if losses == "relations":
            relation_loss(output.pairs, batch.labels, positive_weight=1.0).backward()
        else:
            ner_loss(output.ner, batch.ner_labels, batch.token_mask).backward()
        reached = {name.split(".")[0] for name, p in model.named_parameters() if p.grad is not None and p.grad.any()}
        assert reached == {"embedding", "encoder", "head", "tail", "biaffine", "features", "ner"} - untouched


def test_the_same_seed_gives_the_same_network_and_the_same_steps(documents: list[Example]) -> None:
    batch = batch_of(documents)
    one, other = tiny_bran(seed=5), tiny_bran(seed=5)
    assert torch.equal(_run(one, batch).pairs, _run(other, batch).pairs)
    assert torch.equal(_run(one, batch).pairs, _run(one, batch).pairs)
    assert not torch.equal(_run(one, batch).pairs, _run(tiny_bran(seed=6), batch).pairs)
    passes = []
    for _ in range(2):
        torch.manual_seed(7)
        passes.append(one.train()(batch).pairs)
    assert torch.equal(passes[0], passes[1])
    assert not torch.equal(passes[0], _run(one, batch).pairs)  # dropout was at work


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("features", [True, False])
@pytest.mark.parametrize(
    "document",
    [
        example(tokens=[5, 6, 7], entities=[("Chemical", [(0, 2)]), ("Disease", [(2, 3)])]),
        example(tokens=[5, 6, 7]),
        example(tokens=[5]),
        example(tokens=[]),
    ],
    ids=["no pair", "no mention", "one token", "no token"],
)
def test_a_document_without_pairs_is_tagged_and_trains(document: Example, units: str, features: bool) -> None:
    model = tiny_bran(features=features)
    batch = batch_of([document], units=units, features=features)
    output = _run(model, batch)
    assert output.pairs.shape == (0, 5)
    assert output.links.shape == (0, 5)
    assert output.ner[batch.token_mask].shape == (len(document.token_ids), 7)
    output = model.train()(batch)
    loss = relation_loss(output.pairs, batch.labels, positive_weight=2.0)
    (loss + ner_loss(output.ner, batch.ner_labels, batch.token_mask)).backward()
    assert loss.item() == 0.0
    assert all(parameter.grad is None or torch.isfinite(parameter.grad).all() for parameter in model.parameters())


def test_a_document_of_one_token_can_have_a_pair() -> None:
    document = example(tokens=[5], entities=[("Chemical", [(0, 1)]), ("Disease", [(0, 1)])], pairs=[(0, 1, (1,))])
    output = _run(tiny_bran(), batch_of([document]))
    assert output.links.shape == (1, 5)
    assert torch.isfinite(output.pairs[:, :3]).all()


def test_a_document_without_a_token_leaves_its_neighbours_alone() -> None:
    documents = [example(tokens=[]), random_example(1, 9)]
    model = tiny_bran()
    batch = batch_of(documents)
    torch.testing.assert_close(
        _run(model, batch).pairs, _run(model, batch_of(documents, 1)).pairs, atol=1e-5, rtol=1e-5
    )
    output = model.train()(batch)
    (output.pairs[:, 0].sum() + ner_loss(output.ner, batch.ner_labels, batch.token_mask)).backward()
    assert all(parameter.grad is None or torch.isfinite(parameter.grad).all() for parameter in model.parameters())


# ---- the reranker


def test_in_training_a_network_with_a_reranker_tells_its_own_scores() -> None:
    batch = batch_of([random_example(seed, 20, entities=6) for seed in range(3)])
    passes = []
    for model in (tiny_bran(seed=4), tiny_reranked(seed=4)):
        torch.manual_seed(7)
        passes.append(model.train()(batch))
    for name in ("pairs", "links", "ner"):
        assert torch.equal(*(getattr(output, name) for output in passes))


def test_in_evaluation_it_tells_those_of_the_reranker(documents: list[Example]) -> None:
    model, batch = tiny_reranked(), batch_of(documents)
    output = _run(model, batch)
    with torch.no_grad():
        alone = model.score_alone(model.encode(batch.token_ids, batch.token_mask), batch)
        expected = model.reranker(alone.pairs, batch)
    assert torch.equal(alone.pairs, _run(tiny_bran(), batch).pairs)
    assert torch.equal(output.pairs[batch.allowed], expected[batch.allowed])
    assert (output.pairs[~batch.allowed] == FORBIDDEN).all()
    assert not torch.allclose(output.pairs, alone.pairs)
    assert torch.equal(output.links, alone.links)
    assert torch.equal(output.ner, alone.ner)


def test_no_gradient_reaches_the_reranker() -> None:
    batch = batch_of([random_example(seed, 20, entities=6) for seed in range(3)])
    gradients = []
    for model in (tiny_bran(), tiny_reranked()):
        before = [weights.clone() for name, weights in model.named_buffers() if name.startswith("reranker.")]
        torch.manual_seed(1)
        relation_loss(model.train()(batch).pairs, batch.labels, positive_weight=2.0).backward()
        gradients.append({name: parameter.grad for name, parameter in model.named_parameters()})
        after = [weights for name, weights in model.named_buffers() if name.startswith("reranker.")]
        assert all(torch.equal(one, other) for one, other in zip(before, after, strict=True))
        assert all(weights.grad is None and not weights.requires_grad for weights in after)
    assert len(after) == 6
    assert gradients[0].keys() == gradients[1].keys()
    for name, gradient in gradients[0].items():
        assert (gradient is None) == (gradients[1][name] is None)
        assert gradient is None or torch.equal(gradient, gradients[1][name])


def test_saved_and_read_again_it_scores_the_same(documents: list[Example], tmp_path: Path) -> None:
    model, batch = tiny_reranked(), batch_of(documents)
    save_weights(model, tmp_path / "model.safetensors")
    again = network_from_dict(network_to_dict(model))
    assert isinstance(again, Bran)
    assert not torch.equal(_run(again, batch).pairs, _run(model, batch).pairs)
    load_weights(again, tmp_path / "model.safetensors")
    assert torch.equal(_run(again, batch).pairs, _run(model, batch).pairs)


@pytest.mark.parametrize("document", [example(tokens=[5, 6, 7]), example(tokens=[])], ids=["no pair", "no token"])
def test_a_document_without_pairs_passes_the_reranker(document: Example) -> None:
    batch = batch_of([document])
    assert _run(tiny_reranked(), batch).pairs.shape == (0, 5)


# ---- relations and types


@pytest.mark.parametrize("features", [True, False])
def test_relations_that_the_types_forbid_have_probability_zero(documents: list[Example], features: bool) -> None:
    batch = batch_of(documents, features=features)
    shares = probabilities(_run(tiny_bran(features=features), batch).pairs)
    row = 0
    for document in documents:
        for head, tail in zip(document.pair_heads, document.pair_tails, strict=True):
            types = (document.entity_types[head], document.entity_types[tail])
            fits = [True, *(expected == types for expected in RELATION_TYPES)]
            assert [bool(share > 0) for share in shares[row]] == fits
            row += 1
    assert row == len(shares)
    torch.testing.assert_close(shares.sum(-1), torch.ones(row))


def test_a_pair_of_types_without_a_relation_is_null() -> None:
    document = example(tokens=[3, 4], entities=[("Disease", [(0, 1)]), ("Gene", [(1, 2)])], pairs=[(0, 1, ())])
    for model in (tiny_bran(), tiny_reranked()):
        assert probabilities(_run(model, batch_of([document])).pairs).tolist() == [[1.0, 0.0, 0.0, 0.0, 0.0]]


@pytest.mark.parametrize("units", UNITS)
def test_the_order_of_mentions_is_no_matter(units: str) -> None:
    document = random_example(11, 20, entities=6, mentions=4)
    order = list(reversed(range(len(document.mention_starts))))
    shuffled = dataclasses.replace(
        document,
        **{
            name: tuple(getattr(document, name)[place] for place in order)
            for name in (
                "mention_entities",
                "mention_starts",
                "mention_ends",
                "mention_char_starts",
                "mention_char_ends",
            )
        },
    )
    assert shuffled != document
    model = tiny_bran()
    torch.testing.assert_close(
        _run(model, batch_of([shuffled], units=units)).pairs,
        _run(model, batch_of([document], units=units)).pairs,
        atol=1e-5,
        rtol=1e-5,
    )


def test_a_pair_pools_its_links_and_adds_its_features(documents: list[Example]) -> None:
    model, batch = tiny_bran(), batch_of(documents)
    output = _run(model, batch)
    expected = pool_links(output.links, batch.link_pairs, batch.pairs) + model.features(batch.pair_features)
    torch.testing.assert_close(output.pairs[batch.allowed], expected[batch.allowed])
    assert (output.pairs[~batch.allowed] == -1e9).all()


def test_scores_reach_past_the_positions(documents: list[Example]) -> None:
    """A head at the start and a tail at the end of a long document meet in one link."""
    tokens = list(documents[3].token_ids)
    assert len(tokens) > 2 * POSITIONS
    entities = [("Chemical", [(0, 1)]), ("Disease", [(52, 53)])]
    model = tiny_bran()
    base = _run(model, batch_of([example(tokens=tokens, entities=entities, pairs=[(0, 1, ())])])).links
    for place in (0, 52):
        changed = [*tokens[:place], 30 - tokens[place] - 1, *tokens[place + 1 :]]
        other = _run(model, batch_of([example(tokens=changed, entities=entities, pairs=[(0, 1, ())])])).links
        assert not torch.allclose(base, other)


def test_in_training_a_long_document_is_read_whole(documents: list[Example]) -> None:
    """As in the paper (section 2.1), with the one vector beyond the positions; no window comes between."""
    changes = dict.fromkeys(("word_dropout", "input_dropout", "inner_dropout", "final_dropout"), 0.0)
    model = tiny_bran(**changes)
    batch = batch_of(documents, 3)
    whole = model.encoder(model.embedding(batch.token_ids), batch.token_mask)
    torch.testing.assert_close(model.train().encode(batch.token_ids, batch.token_mask), whole)
    assert not torch.allclose(model.eval().encode(batch.token_ids, batch.token_mask), whole)


def test_the_ablation_without_attention_runs(documents: list[Example]) -> None:
    model = tiny_bran(heads=0)
    assert _run(model, batch_of(documents)).pairs.shape[1] == 5
    assert not any("queries" in name for name, _ in model.named_parameters())


def test_a_batch_moves_whole() -> None:
    batch = batch_of([random_example(1, 9)])
    moved = batch.to(torch.device("meta"))
    assert {getattr(moved, field.name).device.type for field in dataclasses.fields(Batch)} == {"meta"}
    assert moved.pairs == batch.pairs
