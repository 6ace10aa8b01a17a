"""The mix of parts and the cheap draws, each against the plain way."""

from __future__ import annotations

import pytest
import torch

from biorel.qa.layers import FactoredLinear, FastDropout, uniform
from tests.builders import scrambled

CPU = torch.device("cpu")


def test_a_mix_is_the_linear_map_of_what_is_concatenated():
    mix = scrambled(FactoredLinear((3, 2, 4), 5))
    random = torch.Generator().manual_seed(0)
    tokens, places, question = (
        torch.randn(*shape, generator=random, dtype=torch.float64) for shape in ((6, 7, 3), (7, 2), (6, 1, 4))
    )
    whole = torch.cat([tokens, places.expand(6, 7, 2), question.expand(6, 7, 4)], dim=-1)
    torch.testing.assert_close(mix(tokens, places, question), mix.linear(whole))


def test_draws_are_uniform_and_hang_on_torchs_seed():
    torch.manual_seed(1)
    drawn = uniform((100, 1001), CPU)
    assert drawn.shape == (100, 1001)
    counts = torch.histc(drawn.float(), bins=16, min=-(2**15), max=2**15)
    assert (counts / drawn.numel() * 16 - 1).abs().max() < 0.05
    torch.manual_seed(1)
    assert torch.equal(uniform((100, 1001), CPU), drawn)
    assert not torch.equal(uniform((100, 1001), CPU), drawn)


def test_neighbouring_draws_are_independent():
    """Four are cut from one number of the generator."""
    torch.manual_seed(2)
    drawn = uniform((40_000, 4), CPU).double()
    correlations = torch.corrcoef(drawn.T) - torch.eye(4)
    assert correlations.abs().max() < 0.02


@pytest.mark.parametrize("probability", [0.1, 0.5])
def test_dropout_drops_its_share_and_keeps_the_mean(probability):
    torch.manual_seed(3)
    dropout, ones = FastDropout(probability), torch.ones(300, 401)
    dropped = dropout(ones)
    assert dropped.unique().tolist() == pytest.approx([0, 1 / (1 - probability)], rel=1e-4)
    assert float((dropped == 0).float().mean()) == pytest.approx(probability, abs=0.005)
    assert dropout.eval()(ones) is ones
    assert FastDropout(0.0)(ones) is ones
