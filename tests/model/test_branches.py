"""Branches in the network: their layout equals K-BERT's sentence tree, and the mask isolates them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from biorel.model.bran import Bran
from biorel.model.branches import Branches, layout
from biorel.model.checkpoint import load_weights, save_weights
from tests.builders import batch_of, example, random_example, scrambled, tiny_bran, with_branches
from tests.knowledge.sentence_tree import Branch, FlatTree, flatten

SEEDS = range(8)


def document(seed: int, length: int = 17):
    return with_branches(random_example(seed, length), seed)


def flat_of(one) -> FlatTree[int]:
    """The document's sentence tree as K-BERT's flat sequence."""
    pairs = zip(one.branch_tokens, one.branch_anchors, strict=True)
    return flatten(one.token_ids, [Branch(tokens, anchors) for tokens, anchors in pairs])


def branches_of(*documents) -> tuple[Branches, Tensor]:
    batch = batch_of(documents)
    assert batch.branches is not None
    return batch.branches, batch.token_mask


def encoded(model: Bran, *documents) -> Tensor:
    batch = batch_of(documents)
    with torch.no_grad():
        return model.encode(batch.token_ids, batch.token_mask, batch.branches)


def deep(**changes: object) -> Bran:
    model = scrambled(tiny_bran(**changes))
    assert isinstance(model, Bran)
    return model


@pytest.mark.parametrize("seed", SEEDS)
def test_positions_and_visibility_equal_those_of_the_sentence_tree(seed):
    one, other = document(seed), document(seed + 100, 9)
    branches, mask = branches_of(one, other)
    laid_out = layout(mask, branches)
    hard, soft, visible, real = (
        layout(mask, branches, soft=False).positions,
        laid_out.positions,
        laid_out.visible,
        laid_out.real,
    )
    for row, flat in enumerate((flat_of(one), flat_of(other))):
        places = hard[row, real[row]].numpy()
        assert sorted(places) == list(range(len(flat.tokens)))
        assert np.array(flat.soft)[places].tolist() == soft[row, real[row]].tolist()
        assert (flat.visible[np.ix_(places, places)] == visible[row][real[row]][:, real[row]].numpy()).all()


def test_no_token_attends_to_padding_and_padding_attends_to_something():
    branches, mask = branches_of(document(1), document(2, 9))
    laid_out = layout(mask, branches)
    visible, real = laid_out.visible, laid_out.real
    assert real.shape[1] == 17 + max(sum(map(len, one.branch_tokens)) for one in (document(1), document(2, 9)))
    assert not visible.transpose(1, 2)[~real].any()
    assert visible.any(-1).all()


@pytest.mark.parametrize("kernels", [(1, 1, 1), (1, 5, 1)])
def test_a_branch_influences_no_other_branch_and_the_text_only_through_its_anchors(kernels):
    """Measured by the gradients of one block, including its convolutions."""
    one = example(
        tokens=range(2, 14),
        entities=[("Chemical", [(1, 3)]), ("Disease", [(8, 9)])],
        branches=[((5, 6, 7), (1, 2)), ((8, 9), (1, 2)), ((3, 4, 5), (8,))],
    )
    model = deep(blocks=1, kernels=kernels)
    branches, mask = branches_of(one)
    laid_out = layout(mask, branches)
    ids = laid_out.tokens(batch_of([one]).token_ids, branches)
    embedded = model.embedding(ids, laid_out.positions).detach().requires_grad_()
    out = model.encoder(embedded, laid_out.real, laid_out)
    influence = torch.stack(
        [
            torch.autograd.grad(out[0, place].square().sum(), embedded, retain_graph=True)[0][0].abs().sum(-1)
            for place in range(out.shape[1])
        ]
    )  # [influenced token, influencing token]
    branch_of = [-1] * 12 + [0] * 3 + [1] * 2 + [2] * 3
    reach = kernels[1] // 2
    anchors = {0: (1, 2), 1: (1, 2), 2: (8,)}
    for place, of in enumerate(branch_of):
        for source, origin in enumerate(branch_of):
            if of >= 0 and origin >= 0:
                assert (influence[place, source] > 0) == (of == origin)
            elif of < 0 <= origin:
                near = any(abs(place - anchor) <= reach for anchor in anchors[origin])
                assert (influence[place, source] > 0) == near


@pytest.mark.parametrize("seed", SEEDS)
def test_a_document_without_branches_has_the_same_scores_beside_one_with_branches(seed):
    model = tiny_bran(seed=seed).eval()
    plain, rich = random_example(seed, 13), document(seed + 1)
    with torch.no_grad():
        alone, batched = model(batch_of([plain])), model(batch_of([plain, rich]))
    pairs = len(plain.pair_heads)
    assert torch.allclose(alone.pair_scores, batched.pair_scores[:pairs], atol=1e-6, rtol=0)
    assert torch.allclose(alone.ner_scores[0], batched.ner_scores[0, :13], atol=1e-6, rtol=0)


@pytest.mark.parametrize("options", [{}, {"soft_positions": False}, {"visible_matrix": False}, {"positions": 9}])
def test_a_document_with_branches_has_the_same_encoding_alone_and_in_a_batch(options):
    model = deep(**options)
    documents = [document(seed, length) for seed, length in ((1, 17), (2, 9), (3, 22))]
    together = encoded(model, *documents)
    for row, one in enumerate(documents):
        alone = encoded(model, one)[0]
        assert torch.allclose(together[row, : len(alone)], alone, atol=1e-9)


def test_branches_change_the_encoding():
    model, one = deep(), random_example(4, 17)
    assert not torch.allclose(encoded(model, one), encoded(model, with_branches(one, 1)))


@pytest.mark.parametrize("ablation", ["soft_positions", "visible_matrix"])
def test_each_ablation_changes_the_encoding(ablation):
    one = document(5)
    assert not torch.allclose(encoded(deep(), one), encoded(deep(**{ablation: False}), one))


def test_the_order_of_the_branches_does_not_matter():
    one = document(6)
    reversed_branches = example(
        tokens=one.token_ids, branches=[*zip(one.branch_tokens, one.branch_anchors, strict=True)][::-1]
    )
    assert torch.allclose(encoded(deep(), one), encoded(deep(), reversed_branches), atol=1e-9)


def test_a_window_has_the_branches_of_its_anchors():
    """Each of the two windows is encoded like a separate text."""
    model = deep(positions=8)
    tokens = range(2, 16)
    whole = example(tokens=tokens, branches=[((3, 4), (0, 1, 12)), ((5,), (13,))])
    first = example(tokens=tokens[:8], branches=[((3, 4), (0, 1))])
    second = example(tokens=tokens[6:], branches=[((3, 4), (6,)), ((5,), (7,))])
    found = encoded(model, whole)[0]
    assert torch.allclose(found[:7], encoded(model, first)[0, :7])
    assert torch.allclose(found[7:], encoded(model, second)[0, 1:])


def test_a_saved_and_loaded_network_has_the_same_scores(tmp_path):
    model, loaded = tiny_bran(branches=2).eval(), tiny_bran(seed=9, branches=2)
    save_weights(model, tmp_path / "model.safetensors")
    load_weights(loaded, tmp_path / "model.safetensors")
    batch = batch_of([document(1)])
    with torch.no_grad():
        assert torch.equal(model(batch).pair_scores, loaded(batch).pair_scores)
