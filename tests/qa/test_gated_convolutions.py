"""The gated dilated convolutions of DGCNN against equations 1 to 3 and 9 in float64."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from biorel.qa.gated_convolutions import GatedConvolution, GatedStack, receptive_field
from biorel.qa.reader_config import ReaderConfig
from tests.builders import scrambled
from tests.qa import naive


@pytest.mark.parametrize("dilation", [1, 2, 4])
@pytest.mark.parametrize("outer", [3, 5])
def test_gated_convolution_is_equation_1_or_3(dilation, outer):
    layer = scrambled(GatedConvolution(inner=3, outer=outer, kernel=3, dilation=dilation, noise=0.1))
    x = naive.random_tokens(1, 9, 3)
    linear = naive.convolution(x[0].numpy(), *naive.linear(layer, "linear"), dilation)
    gate = naive.sigmoid(naive.convolution(x[0].numpy(), *naive.linear(layer, "gate"), dilation))
    expected = linear * gate + (x[0].numpy() * (1 - gate) if outer == 3 else 0)
    got = layer(x, torch.ones(1, 9, dtype=torch.bool))[0].detach().numpy()
    np.testing.assert_allclose(got, expected, atol=1e-12)


def test_equation_2_is_equation_3_with_another_linear_part():
    """X + C1(X) s equals X (1 - s) + C1'(X) s, where C1' is C1 plus the identity kernel."""
    layer = scrambled(GatedConvolution(inner=3, outer=3, kernel=3, dilation=2, noise=0.0))
    x, mask = naive.random_tokens(1, 7, 3), torch.ones(1, 7, dtype=torch.bool)
    second = x + layer.linear(x.transpose(1, 2)).transpose(1, 2) * layer.gate(x.transpose(1, 2)).sigmoid().transpose(
        1, 2
    )
    with torch.no_grad():
        layer.linear.weight[:, :, 1] += torch.eye(3, dtype=torch.float64)
    torch.testing.assert_close(layer(x, mask), second)


def test_gate_noise_is_equation_9_and_only_in_training():
    layer = scrambled(GatedConvolution(inner=2, outer=4, kernel=1, dilation=1, noise=0.1))
    with torch.no_grad():
        layer.linear.weight.zero_()
        layer.linear.bias.fill_(1.0)  # the output is the gate itself
    x, mask = naive.random_tokens(50, 40, 2), torch.ones(50, 40, dtype=torch.bool)
    still = layer(x, mask)
    torch.testing.assert_close(still, layer(x, mask))
    torch.manual_seed(0)
    layer.train()
    epsilon = (layer(x, mask).logit() / still.logit() - 1).detach()
    assert epsilon.abs().max() <= 0.1 + 1e-6
    assert abs(epsilon.mean()) < 0.002
    assert float(epsilon.std()) == pytest.approx(0.2 / 12**0.5, rel=0.02)


def test_an_untrained_deep_stack_distinguishes_tokens():
    torch.manual_seed(0)
    stack = GatedStack(inner=64, width=64, kernel=3, dilations=(1, 2, 4, 8, 16, 32, 64, 128, 1), noise=0.1, dropout=0.0)
    x = torch.randn(2, 300, 64)
    assert stack.eval()(x, torch.ones(2, 300, dtype=torch.bool)).std(1).mean() > 0.1


def test_padding_does_not_change_the_output():
    stack = scrambled(GatedStack(inner=3, width=4, kernel=3, dilations=(1, 2, 4), noise=0.1, dropout=0.2))
    short = naive.random_tokens(1, 6, 3)
    alone = stack(short, torch.ones(1, 6, dtype=torch.bool))
    padded = torch.cat([short, naive.random_tokens(1, 5, 3, seed=1)], dim=1)
    mask = torch.arange(11)[None] < 6
    torch.testing.assert_close(stack(padded, mask)[:, :6], alone)


def test_default_dilations_cover_500_tokens():
    config = ReaderConfig(vocabulary=2)
    assert receptive_field(config.kernel, config.dilations) >= 500


def test_receptive_field_is_the_range_of_the_gradient():
    dilations = (1, 2, 4)
    stack = scrambled(GatedStack(inner=2, width=2, kernel=3, dilations=dilations, noise=0.0, dropout=0.0))
    x = naive.random_tokens(1, 41, 2).requires_grad_()
    stack(x, torch.ones(1, 41, dtype=torch.bool))[0, 20].sum().backward()
    reached = x.grad[0].abs().sum(-1).nonzero().flatten()
    assert (reached.min(), reached.max()) == (20 - 7, 20 + 7)
    assert receptive_field(3, dilations) == len(reached) == 15
