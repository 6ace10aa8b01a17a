"""The masked language model: its scores equal a loop over tokens, and it trains BRAN's own encoder."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from biorel.model.bran import Bran
from biorel.model.masked import SHARED, MaskedConfig, MaskedLanguageModel
from tests.builders import scrambled, tiny_bran

VOCABULARY = 30


@pytest.fixture
def model() -> MaskedLanguageModel:
    config = MaskedConfig(
        vocabulary=VOCABULARY, width=8, blocks=2, heads=2, kernels=(1, 5, 1), expansion=2, positions=12
    )
    built = scrambled(MaskedLanguageModel(config))
    assert isinstance(built, MaskedLanguageModel)
    return built.eval()


@pytest.fixture
def texts() -> tuple[torch.Tensor, torch.Tensor]:
    """[3, 12] ids and mask of texts of 12, 7 and 3 tokens."""
    mask = torch.arange(12) < torch.tensor([[12], [7], [3]])
    ids = torch.randint(2, VOCABULARY, (3, 12), generator=torch.Generator().manual_seed(1))
    return ids * mask, mask


def test_scores_of_hidden_tokens_use_the_tied_embedding(model, texts):
    ids, mask = texts
    places = torch.tensor([0, 11, 12, 26])
    tokens = model.encoder(model.embedding(ids), mask)
    embedding = model.embedding.tokens.weight
    for place, scores in zip(places.tolist(), model(ids, mask, places), strict=True):
        transformed = model.norm(F.gelu(model.transform(tokens[place // 12, place % 12])))
        expected = torch.stack([embedding[token] @ transformed + model.bias[token] for token in range(VOCABULARY)])
        torch.testing.assert_close(scores, expected, atol=1e-5, rtol=1e-5)


def test_a_text_has_the_same_scores_alone_and_in_a_batch(model, texts):
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
    # the output layer also trains tokens that no text holds
    absent = set(range(VOCABULARY)) - set(ids.flatten().tolist())
    assert absent
    assert all(model.embedding.tokens.weight.grad[token].any() for token in absent)


def test_shared_weights_have_the_names_and_shapes_that_they_have_in_bran():
    bran: Bran = tiny_bran()
    names = ("vocabulary", "width", "blocks", "heads", "kernels", "expansion", "positions")
    masked = MaskedLanguageModel(MaskedConfig(**{name: getattr(bran.config, name) for name in names}))
    shapes, expected = (
        {name: value.shape for name, value in network.state_dict().items() if name.startswith(SHARED)}
        for network in (masked, bran)
    )
    assert shapes == expected
    assert len(shapes) > 10
