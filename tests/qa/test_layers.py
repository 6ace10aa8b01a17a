"""The layers and the head of DGCNN against their equations in float64, the factored linear map, fast dropout."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from biorel.qa.batches import Targets
from biorel.qa.gated_convolutions import GatedConvolution, GatedStack, receptive_field
from biorel.qa.heads import EncodedPassage, LabelHead, focal_loss
from biorel.qa.layers import (
    AdditiveAttention,
    AdditiveScore,
    FactoredLinear,
    FastDropout,
    random_int16,
    sinusoidal_positions,
)
from biorel.qa.reader_config import ReaderConfig
from tests.builders import scrambled
from tests.qa import naive


def numbers(module, name):
    return module.get_parameter(name).detach().numpy()


def pair(module, name):
    return numbers(module, f"{name}.weight"), numbers(module, f"{name}.bias")


def tokens(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("dilation", [1, 2, 4])
@pytest.mark.parametrize("outer", [3, 5])
def test_gated_convolution_is_equation_1_or_3(dilation, outer):
    layer = scrambled(GatedConvolution(inner=3, outer=outer, kernel=3, dilation=dilation, noise=0.1))
    x = tokens(1, 9, 3)
    linear = naive.convolution(x[0].numpy(), *pair(layer, "linear"), dilation)
    gate = naive.sigmoid(naive.convolution(x[0].numpy(), *pair(layer, "gate"), dilation))
    expected = linear * gate + (x[0].numpy() * (1 - gate) if outer == 3 else 0)
    got = layer(x, torch.ones(1, 9, dtype=torch.bool))[0].detach().numpy()
    np.testing.assert_allclose(got, expected, atol=1e-12)


def test_equation_2_is_equation_3_with_another_linear_part():
    """X + C1(X) s equals X (1 - s) + C1'(X) s, where C1' is C1 plus the identity kernel."""
    layer = scrambled(GatedConvolution(inner=3, outer=3, kernel=3, dilation=2, noise=0.0))
    x, mask = tokens(1, 7, 3), torch.ones(1, 7, dtype=torch.bool)
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
    x, mask = tokens(50, 40, 2), torch.ones(50, 40, dtype=torch.bool)
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
    short = tokens(1, 6, 3)
    alone = stack(short, torch.ones(1, 6, dtype=torch.bool))
    padded = torch.cat([short, tokens(1, 5, 3, seed=1)], dim=1)
    mask = torch.arange(11)[None] < 6
    torch.testing.assert_close(stack(padded, mask)[:, :6], alone)


def test_default_dilations_cover_500_tokens():
    config = ReaderConfig(vocabulary=2)
    assert receptive_field(config.kernel, config.dilations) >= 500


def test_receptive_field_is_the_range_of_the_gradient():
    dilations = (1, 2, 4)
    stack = scrambled(GatedStack(inner=2, width=2, kernel=3, dilations=dilations, noise=0.0, dropout=0.0))
    x = tokens(1, 41, 2).requires_grad_()
    stack(x, torch.ones(1, 41, dtype=torch.bool))[0, 20].sum().backward()
    reached = x.grad[0].abs().sum(-1).nonzero().flatten()
    assert (reached.min(), reached.max()) == (20 - 7, 20 + 7)
    assert receptive_field(3, dilations) == len(reached) == 15


def test_additive_attention_is_equations_4_and_5():
    pooling = scrambled(AdditiveAttention(width=3))
    x = tokens(2, 6, 3)
    mask = torch.arange(6)[None] < torch.tensor([[6], [4]])
    for row, length in enumerate((6, 4)):
        real = x[row, :length].numpy()
        scores = naive.additive(real, pair(pooling, "scores.hidden"), pair(pooling, "scores.score"))
        expected = naive.softmax(scores) @ real
        np.testing.assert_allclose(pooling(x, mask)[row].detach().numpy(), expected, atol=1e-12)


def test_positions_are_equation_6():
    table = sinusoidal_positions(30, 8, torch.device("cpu"))
    expected = [[naive.position(place, index, 8) for index in range(8)] for place in range(30)]
    np.testing.assert_allclose(table.numpy(), expected, atol=2e-6)


def test_label_head_is_equations_7_and_8():
    head = scrambled(LabelHead(width=3, inner=5, focus=2.0))
    x = tokens(1, 6, 3)
    passage = EncodedPassage(x, torch.ones(1, 6, dtype=torch.bool), tokens(1, 3))
    real = x[0].numpy()
    weights = naive.softmax(
        naive.additive(real, pair(head, "pooling.scores.hidden"), pair(head, "pooling.scores.score"))
    )
    weight, bias = pair(head, "answerable")
    overall = naive.sigmoid(weight[0] @ (weights @ real) + bias[0])
    start, end = (
        overall * naive.sigmoid(naive.additive(real, pair(head, f"{side}.hidden"), pair(head, f"{side}.score")))
        for side in ("start", "end")
    )
    (direction,) = head.span_probabilities(passage, 6)
    order = np.argsort(-start)
    assert direction.anchors[0].tolist() == order.tolist()
    np.testing.assert_allclose(direction.anchor[0].detach().numpy(), start[order], atol=1e-12)
    np.testing.assert_allclose(direction.partner[0, 0].detach().numpy(), end, atol=1e-12)


@pytest.mark.parametrize("focus", [0.0, 2.0])
def test_focal_loss_matches_its_formula(focus):
    overall, scores = tokens(4, 1, seed=1) * 3, tokens(4, 7, seed=2) * 3
    labels = tokens(4, 7, seed=3) > 0.5
    p = naive.sigmoid(overall.numpy()) * naive.sigmoid(scores.numpy())
    own = np.where(labels.numpy(), p, 1 - p)
    expected = -((1 - own) ** focus) * np.log(own)
    np.testing.assert_allclose(focal_loss(overall, scores, labels, focus).numpy(), expected, atol=1e-9)


@pytest.mark.parametrize("value", [-80.0, 80.0])
def test_focal_loss_and_gradient_are_finite_for_extreme_logits(value):
    """No logarithm of a rounded 0 is taken."""
    overall, scores = (torch.full((1, n), value, requires_grad=True) for n in (1, 2))
    loss = focal_loss(overall, scores, torch.tensor([[True, False]]), 2.0)
    loss.sum().backward()
    assert torch.isfinite(loss).all()
    assert torch.isfinite(overall.grad).all()
    assert torch.isfinite(scores.grad).all()


def test_padding_does_not_change_the_loss_of_the_label_head():
    head = scrambled(LabelHead(width=3, inner=4, focus=2.0))
    x, question = tokens(1, 8, 3), tokens(1, 3)
    none = torch.zeros(1, dtype=torch.int64)

    def loss(length):
        labels = torch.zeros(1, length, dtype=torch.bool)
        labels[0, 2] = True
        passage = EncodedPassage(x[:, :length], torch.arange(length)[None] < 5, question)
        return head.loss(passage, Targets(none, none, labels, labels))

    torch.testing.assert_close(loss(8), loss(5))


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
