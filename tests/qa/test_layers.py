"""Additive attention and positions against equations 4 to 6 of DGCNN; the factored linear map; fast dropout."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from biorel.qa.layers import (
    AdditiveAttention,
    AdditiveScore,
    FactoredLinear,
    FastDropout,
    random_int16,
    sinusoidal_positions,
)
from tests.builders import scrambled
from tests.qa import naive


def test_additive_attention_is_equations_4_and_5():
    pooling = scrambled(AdditiveAttention(width=3))
    x = naive.random_tokens(2, 6, 3)
    mask = torch.arange(6)[None] < torch.tensor([[6], [4]])
    for row, length in enumerate((6, 4)):
        real = x[row, :length].numpy()
        scores = naive.additive(real, naive.linear(pooling, "scores.hidden"), naive.linear(pooling, "scores.score"))
        expected = naive.softmax(scores) @ real
        np.testing.assert_allclose(pooling(x, mask)[row].detach().numpy(), expected, atol=1e-12)


def test_positions_are_equation_6():
    table = sinusoidal_positions(30, 8, torch.device("cpu"))
    expected = [[naive.position(place, index, 8) for index in range(8)] for place in range(30)]
    np.testing.assert_allclose(table.numpy(), expected, atol=2e-6)


def test_additive_score_keeps_the_leading_dimensions():
    assert AdditiveScore(width=3, inner=4)(torch.zeros(2, 5, 3)).shape == (2, 5)


def test_factored_linear_equals_the_linear_map_of_the_concatenation():
    layer = scrambled(FactoredLinear((3, 2, 4), 5))
    random = torch.Generator().manual_seed(0)
    words, positions, question = (
        torch.randn(*shape, generator=random, dtype=torch.float64) for shape in ((6, 7, 3), (7, 2), (6, 1, 4))
    )
    whole = torch.cat([words, positions.expand(6, 7, 2), question.expand(6, 7, 4)], dim=-1)
    torch.testing.assert_close(layer(words, positions, question), layer.linear(whole))


def test_random_int16_is_uniform_and_follows_torchs_seed():
    torch.manual_seed(1)
    drawn = random_int16((100, 1001), torch.device("cpu"))
    assert drawn.shape == (100, 1001)
    counts = torch.histc(drawn.float(), bins=16, min=-(2**15), max=2**15)
    assert (counts / drawn.numel() * 16 - 1).abs().max() < 0.05
    torch.manual_seed(1)
    assert torch.equal(random_int16((100, 1001), torch.device("cpu")), drawn)
    assert not torch.equal(random_int16((100, 1001), torch.device("cpu")), drawn)


def test_neighbouring_random_int16_are_uncorrelated():
    """Four come from one draw of 64 bits."""
    torch.manual_seed(2)
    drawn = random_int16((40_000, 4), torch.device("cpu")).double()
    correlations = torch.corrcoef(drawn.T) - torch.eye(4)
    assert correlations.abs().max() < 0.02


@pytest.mark.parametrize("probability", [0.1, 0.5])
def test_fast_dropout_drops_its_share_and_keeps_the_mean(probability):
    torch.manual_seed(3)
    dropout, ones = FastDropout(probability), torch.ones(300, 401)
    dropped = dropout(ones)
    assert dropped.unique().tolist() == pytest.approx([0, 1 / (1 - probability)], rel=1e-4)
    assert float((dropped == 0).float().mean()) == pytest.approx(probability, abs=0.005)
    assert dropout.eval()(ones) is ones
    assert FastDropout(0.0)(ones) is ones
