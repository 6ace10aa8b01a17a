"""The masked language model: its scores by the long way round, and that BRAN's own encoder is what it trains."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from biorel.model.bran import Bran
from biorel.model.masked import SHARED, EncoderSizes, MaskedModel
from tests.builders import scrambled, tiny_bran

VOCABULARY = 30


@pytest.fixture
def model() -> MaskedModel:
    sizes = EncoderSizes(
        vocabulary=VOCABULARY, width=8, blocks=2, heads=2, kernels=(1, 5, 1), expansion=2, positions=12
    )
    built = scrambled(MaskedModel(sizes))
    assert isinstance(built, MaskedModel)
    return built.eval()


@pytest.fixture
def texts() -> tuple[torch.Tensor, torch.Tensor]:
    """[3, 12] ids and mask of texts of 12, 7 and 3 tokens."""
    mask = torch.arange(12) < torch.tensor([[12], [7], [3]])
    ids = torch.randint(2, VOCABULARY, (3, 12), generator=torch.Generator().manual_seed(1))
    return ids * mask, mask


def test_scores_are_those_of_the_tied_embedding_at_the_hidden_places(model, texts):
    ids, mask = texts
    places = torch.tensor([0, 11, 12, 26])
    tokens = model.encoder(model.embedding(ids), mask)
    embedding = model.embedding.tokens.weight
    for place, scores in zip(places.tolist(), model(ids, mask, places), strict=True):
        named = model.norm(F.gelu(model.transform(tokens[place // 12, place % 12])))
        expected = torch.stack([embedding[token] @ named + model.bias[token] for token in range(VOCABULARY)])
        torch.testing.assert_close(scores, expected, atol=1e-5, rtol=1e-5)


def test_a_text_scores_the_same_alone_and_in_a_batch(model, texts):
    ids, mask = texts
    together = model(ids, mask, torch.tensor([12, 18, 24, 26]))
    alone = [
        model(ids[1:2, :7], mask[1:2, :7], torch.tensor([0, 6])),
        model(ids[2:, :3], mask[2:, :3], torch.tensor([0, 2])),
    ]
    torch.testing.assert_close(together, torch.cat(alone), atol=1e-5, rtol=1e-5)


def test_a_gradient_reaches_every_parameter(model, texts):
    ids, mask = texts
    scores = model.train()(ids, mask, torch.tensor([0, 5, 13, 25]))
    F.cross_entropy(scores, torch.tensor([2, 3, 4, 5])).backward()
    assert [name for name, value in model.named_parameters() if value.grad is None or not value.grad.any()] == []
    # by the output, also the tokens that no text holds
    absent = set(range(VOCABULARY)) - set(ids.flatten().tolist())
    assert absent
    assert all(model.embedding.tokens.weight.grad[token].any() for token in absent)


def test_what_it_shares_with_bran_has_the_names_and_shapes_that_it_has_there():
    bran: Bran = tiny_bran()
    sizes = bran.sizes
    names = ("vocabulary", "width", "blocks", "heads", "kernels", "expansion", "positions")
    masked = MaskedModel(EncoderSizes(**{name: getattr(sizes, name) for name in names}))
    shapes, expected = (
        {name: value.shape for name, value in network.state_dict().items() if name.startswith(SHARED)}
        for network in (masked, bran)
    )
    assert shapes == expected
    assert len(shapes) > 10
