"""The whole network: batches, gradients, seeds and saving, as in AllenNLP's model_test_case, and BRAN's own rules."""

import dataclasses
from pathlib import Path

import pytest
import torch

from biorel.model.batch import Batch
from biorel.model.bran import FORBIDDEN, Bran, BranOutput, probabilities
from biorel.model.checkpoint import load_weights, network_from_dict, network_to_dict, save_weights
from biorel.model.losses import ner_loss, relation_loss
from biorel.model.pooling import pool_mention_pairs
from biorel.records import Example
from tests.builders import LEXICAL_FEATURES, RELATION_TYPES, batch_of, example, random_example, tiny_bran, tiny_reranked

SPAN_POOLINGS = ("mentions", "tokens")
POSITIONS = 24


@pytest.fixture
def documents() -> list[Example]:
    """Short and long documents, with and without pairs; the fourth is longer than the learned positions."""
    return [
        random_example(1, 9),
        random_example(2, 20, entities=6),
        example(tokens=[5, 6, 7], entities=[("Chemical", [(0, 2)]), ("Chemical", [(2, 3)])]),
        random_example(3, 53, entities=5),
        example(tokens=[4]),
        random_example(4, 24),
    ]


def _run(model: Bran, batch: Batch) -> BranOutput:
    with torch.no_grad():
        return model.eval()(batch)


def _per_document(output: BranOutput, batch: Batch) -> list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    """The pair scores, mention pair scores and BIO scores of each document of a batch."""
    mention_pair_documents = batch.pair_documents[batch.entity_pairs]
    return [
        (
            output.pair_scores[batch.pair_documents == row],
            output.mention_pair_scores[mention_pair_documents == row],
            output.ner_scores[row][batch.token_mask[row]],
        )
        for row in range(batch.token_ids.shape[0])
    ]


@pytest.mark.parametrize(("features", "lexical_features"), [(True, 0), (False, 0), (True, LEXICAL_FEATURES)])
@pytest.mark.parametrize("span_pooling", SPAN_POOLINGS)
def test_a_document_has_the_same_scores_alone_and_in_any_batch(
    documents: list[Example], span_pooling: str, features: bool, lexical_features: int
) -> None:
    model = tiny_reranked(lexical_features=lexical_features) if lexical_features else tiny_bran(features=features)
    options = {"span_pooling": span_pooling, "features": features}
    alone = []
    for index in range(len(documents)):
        batch = batch_of(documents, index, **options)
        alone.append(_per_document(_run(model, batch), batch)[0])
    assert sum(len(pairs) for pairs, _, _ in alone) > 20
    for order in [(0, 1, 2, 3, 4, 5), (5, 3, 1, 0), (2, 0), (4, 2, 1), (0, 3)]:
        batch = batch_of(documents, *order, **options)
        for index, found in zip(order, _per_document(_run(model, batch), batch), strict=True):
            for one, other in zip(found, alone[index], strict=True):
                torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("span_pooling", SPAN_POOLINGS)
def test_a_gradient_reaches_every_parameter(span_pooling: str) -> None:
    documents = [random_example(seed, 24, entities=6) for seed in range(4)]
    model = tiny_bran().train()
    batch = batch_of(documents, span_pooling=span_pooling)
    torch.manual_seed(0)
    output = model(batch)
    loss = relation_loss(output.pair_scores, batch.labels, positive_weight=2.0)
    (loss + ner_loss(output.ner_scores, batch.ner_labels, batch.token_mask)).backward()
    parts = {name.split(".")[0] for name, _ in model.named_parameters()}
    assert parts == {"embedding", "encoder", "head", "tail", "biaffine", "pair_features", "ner"}
    without_gradient = [
        name for name, parameter in model.named_parameters() if parameter.grad is None or not parameter.grad.any()
    ]
    assert without_gradient == []
    assert all(torch.isfinite(parameter.grad).all() for parameter in model.parameters())
    assert (model.embedding.positions.weight.grad.abs().sum(1) > 0).all()
    assert (model.biaffine.weight.grad.abs().sum((0, 2)) > 0).all()


def test_either_loss_alone_trains_the_encoder() -> None:
    documents = [random_example(seed, 12) for seed in range(3)]
    batch = batch_of(documents)
    for losses, untouched in (("relations", {"ner"}), ("ner", {"head", "tail", "biaffine", "pair_features"})):
        model = tiny_bran().eval()
        output = model(batch)
        if losses == "relations":
            relation_loss(output.pair_scores, batch.labels, positive_weight=1.0).backward()
        else:
            ner_loss(output.ner_scores, batch.ner_labels, batch.token_mask).backward()
        reached = {name.split(".")[0] for name, p in model.named_parameters() if p.grad is not None and p.grad.any()}
        assert reached == {"embedding", "encoder", "head", "tail", "biaffine", "pair_features", "ner"} - untouched


def test_the_same_seed_gives_the_same_weights_and_the_same_dropout(documents: list[Example]) -> None:
    batch = batch_of(documents)
    one, other = tiny_bran(seed=5), tiny_bran(seed=5)
    assert torch.equal(_run(one, batch).pair_scores, _run(other, batch).pair_scores)
    assert torch.equal(_run(one, batch).pair_scores, _run(one, batch).pair_scores)
    assert not torch.equal(_run(one, batch).pair_scores, _run(tiny_bran(seed=6), batch).pair_scores)
    passes = []
    for _ in range(2):
        torch.manual_seed(7)
        passes.append(one.train()(batch).pair_scores)
    assert torch.equal(passes[0], passes[1])
    assert not torch.equal(passes[0], _run(one, batch).pair_scores)  # dropout changed it


@pytest.mark.parametrize("span_pooling", SPAN_POOLINGS)
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
def test_a_document_without_pairs_is_tagged_and_can_train(document: Example, span_pooling: str, features: bool) -> None:
    model = tiny_bran(features=features)
    batch = batch_of([document], span_pooling=span_pooling, features=features)
    output = _run(model, batch)
    assert output.pair_scores.shape == (0, 5)
    assert output.mention_pair_scores.shape == (0, 5)
    assert output.ner_scores[batch.token_mask].shape == (len(document.token_ids), 7)
    output = model.train()(batch)
    loss = relation_loss(output.pair_scores, batch.labels, positive_weight=2.0)
    (loss + ner_loss(output.ner_scores, batch.ner_labels, batch.token_mask)).backward()
    assert loss.item() == 0.0
    assert all(parameter.grad is None or torch.isfinite(parameter.grad).all() for parameter in model.parameters())


def test_a_document_of_one_token_can_have_a_pair() -> None:
    document = example(tokens=[5], entities=[("Chemical", [(0, 1)]), ("Disease", [(0, 1)])], pairs=[(0, 1, (1,))])
    output = _run(tiny_bran(), batch_of([document]))
    assert output.mention_pair_scores.shape == (1, 5)
    assert torch.isfinite(output.pair_scores[:, :3]).all()


def test_an_empty_document_does_not_affect_its_batch() -> None:
    documents = [example(tokens=[]), random_example(1, 9)]
    model = tiny_bran()
    batch = batch_of(documents)
    torch.testing.assert_close(
        _run(model, batch).pair_scores, _run(model, batch_of(documents, 1)).pair_scores, atol=1e-5, rtol=1e-5
    )
    output = model.train()(batch)
    (output.pair_scores[:, 0].sum() + ner_loss(output.ner_scores, batch.ner_labels, batch.token_mask)).backward()
    assert all(parameter.grad is None or torch.isfinite(parameter.grad).all() for parameter in model.parameters())


# ---- the reranker


def test_in_training_the_reranker_does_not_change_the_scores() -> None:
    batch = batch_of([random_example(seed, 20, entities=6) for seed in range(3)])
    passes = []
    for model in (tiny_bran(seed=4), tiny_reranked(seed=4)):
        torch.manual_seed(7)
        passes.append(model.train()(batch))
    for name in ("pair_scores", "mention_pair_scores", "ner_scores"):
        assert torch.equal(*(getattr(output, name) for output in passes))


def test_in_evaluation_the_scores_are_those_of_the_reranker(documents: list[Example]) -> None:
    model, batch = tiny_reranked(), batch_of(documents)
    output = _run(model, batch)
    with torch.no_grad():
        alone = model.score_without_reranker(model.encode(batch.token_ids, batch.token_mask), batch)
        expected = model.reranker(alone.pair_scores, batch)
    assert torch.equal(alone.pair_scores, _run(tiny_bran(), batch).pair_scores)
    assert torch.equal(output.pair_scores[batch.allowed], expected[batch.allowed])
    assert (output.pair_scores[~batch.allowed] == FORBIDDEN).all()
    assert not torch.allclose(output.pair_scores, alone.pair_scores)
    assert torch.equal(output.mention_pair_scores, alone.mention_pair_scores)
    assert torch.equal(output.ner_scores, alone.ner_scores)


def test_no_gradient_reaches_the_reranker() -> None:
    batch = batch_of([random_example(seed, 20, entities=6) for seed in range(3)])
    gradients = []
    for model in (tiny_bran(), tiny_reranked()):
        before = [weights.clone() for name, weights in model.named_buffers() if name.startswith("reranker.")]
        torch.manual_seed(1)
        relation_loss(model.train()(batch).pair_scores, batch.labels, positive_weight=2.0).backward()
        gradients.append({name: parameter.grad for name, parameter in model.named_parameters()})
        after = [weights for name, weights in model.named_buffers() if name.startswith("reranker.")]
        assert all(torch.equal(one, other) for one, other in zip(before, after, strict=True))
        assert all(weights.grad is None and not weights.requires_grad for weights in after)
    assert len(after) == 6
    assert gradients[0].keys() == gradients[1].keys()
    for name, gradient in gradients[0].items():
        assert (gradient is None) == (gradients[1][name] is None)
        assert gradient is None or torch.equal(gradient, gradients[1][name])


def test_a_saved_and_loaded_network_has_the_same_scores(documents: list[Example], tmp_path: Path) -> None:
    model, batch = tiny_reranked(), batch_of(documents)
    save_weights(model, tmp_path / "model.safetensors")
    loaded = network_from_dict(network_to_dict(model))
    assert isinstance(loaded, Bran)
    assert not torch.equal(_run(loaded, batch).pair_scores, _run(model, batch).pair_scores)
    load_weights(loaded, tmp_path / "model.safetensors")
    assert torch.equal(_run(loaded, batch).pair_scores, _run(model, batch).pair_scores)


@pytest.mark.parametrize("document", [example(tokens=[5, 6, 7]), example(tokens=[])], ids=["no pair", "no token"])
def test_the_reranker_accepts_a_document_without_pairs(document: Example) -> None:
    batch = batch_of([document])
    assert _run(tiny_reranked(), batch).pair_scores.shape == (0, 5)


# ---- relations and types


@pytest.mark.parametrize("features", [True, False])
def test_relations_with_other_argument_types_have_probability_zero(documents: list[Example], features: bool) -> None:
    batch = batch_of(documents, features=features)
    shares = probabilities(_run(tiny_bran(features=features), batch).pair_scores)
    row = 0
    for document in documents:
        for head, tail in zip(document.pair_heads, document.pair_tails, strict=True):
            types = (document.entity_types[head], document.entity_types[tail])
            matches = [True, *(expected == types for expected in RELATION_TYPES)]
            assert [bool(share > 0) for share in shares[row]] == matches
            row += 1
    assert row == len(shares)
    torch.testing.assert_close(shares.sum(-1), torch.ones(row))


def test_a_pair_whose_types_have_no_relation_is_null() -> None:
    document = example(tokens=[3, 4], entities=[("Disease", [(0, 1)]), ("Gene", [(1, 2)])], pairs=[(0, 1, ())])
    for model in (tiny_bran(), tiny_reranked()):
        assert probabilities(_run(model, batch_of([document])).pair_scores).tolist() == [[1.0, 0.0, 0.0, 0.0, 0.0]]


@pytest.mark.parametrize("span_pooling", SPAN_POOLINGS)
def test_the_order_of_mentions_does_not_matter(span_pooling: str) -> None:
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
        _run(model, batch_of([shuffled], span_pooling=span_pooling)).pair_scores,
        _run(model, batch_of([document], span_pooling=span_pooling)).pair_scores,
        atol=1e-5,
        rtol=1e-5,
    )


def test_a_pair_score_is_the_pooled_mention_pairs_plus_the_pair_features(documents: list[Example]) -> None:
    model, batch = tiny_bran(), batch_of(documents)
    output = _run(model, batch)
    expected = pool_mention_pairs(
        output.mention_pair_scores, batch.entity_pairs, batch.pair_count
    ) + model.pair_features(batch.pair_features)
    torch.testing.assert_close(output.pair_scores[batch.allowed], expected[batch.allowed])
    assert (output.pair_scores[~batch.allowed] == -1e9).all()


def test_a_mention_pair_can_span_more_than_the_learned_positions(documents: list[Example]) -> None:
    """A head at the start and a tail at the end of a long document form one mention pair."""
    tokens = list(documents[3].token_ids)
    assert len(tokens) > 2 * POSITIONS
    entities = [("Chemical", [(0, 1)]), ("Disease", [(52, 53)])]
    model = tiny_bran()
    base = _run(model, batch_of([example(tokens=tokens, entities=entities, pairs=[(0, 1, ())])])).mention_pair_scores
    for place in (0, 52):
        changed = [*tokens[:place], 30 - tokens[place] - 1, *tokens[place + 1 :]]
        other = _run(
            model, batch_of([example(tokens=changed, entities=entities, pairs=[(0, 1, ())])])
        ).mention_pair_scores
        assert not torch.allclose(base, other)


def test_in_training_a_long_document_is_not_read_in_windows(documents: list[Example]) -> None:
    """As in the paper (section 2.1), with one vector beyond the learned positions."""
    changes = dict.fromkeys(("word_dropout", "input_dropout", "inner_dropout", "final_dropout"), 0.0)
    model = tiny_bran(**changes)
    batch = batch_of(documents, 3)
    whole = model.encoder(model.embedding(batch.token_ids), batch.token_mask)
    torch.testing.assert_close(model.train().encode(batch.token_ids, batch.token_mask), whole)
    assert not torch.allclose(model.eval().encode(batch.token_ids, batch.token_mask), whole)


def test_the_ablation_without_attention_runs(documents: list[Example]) -> None:
    model = tiny_bran(heads=0)
    assert _run(model, batch_of(documents)).pair_scores.shape[1] == 5
    assert not any("queries" in name for name, _ in model.named_parameters())


def test_moving_a_batch_moves_every_field() -> None:
    batch = batch_of([random_example(1, 9)])
    moved = batch.to(torch.device("meta"))
    assert {getattr(moved, field.name).device.type for field in dataclasses.fields(Batch)} == {"meta"}
    assert moved.pair_count == batch.pair_count
