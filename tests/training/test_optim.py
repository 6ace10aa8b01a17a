"""Optimizer steps, learning rates, gradient noise and the weight average equal their formulas."""

import math
from itertools import pairwise

import pytest
import torch
from torch import nn

from biorel.training.optim import WeightAverage, add_gradient_noise, build_optimizer, learning_rate


def _network(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 2), nn.LayerNorm(2))


def test_steps_are_adam_with_decoupled_decay_of_matrices_only() -> None:
    """Loshchilov and Hutter 2019, algorithm 2, computed for one number at a time."""
    rate, (beta1, beta2), epsilon, decay = 0.05, (0.1, 0.9), 1e-4, 0.3  # the paper's betas
    network = _network().double()
    optimizer = build_optimizer(network, rate=rate, betas=(beta1, beta2), epsilon=epsilon, weight_decay=decay)
    expected = {name: parameter.detach().flatten().tolist() for name, parameter in network.named_parameters()}
    first = {name: [0.0] * len(values) for name, values in expected.items()}
    second = {name: [0.0] * len(values) for name, values in expected.items()}
    generator = torch.Generator().manual_seed(1)
    for step in range(1, 4):
        for name, parameter in network.named_parameters():
            parameter.grad = torch.randn(parameter.shape, dtype=torch.float64, generator=generator)
            for i, gradient in enumerate(parameter.grad.flatten().tolist()):
                if name == "0.weight":
                    expected[name][i] -= rate * decay * expected[name][i]
                first[name][i] = beta1 * first[name][i] + (1 - beta1) * gradient
                second[name][i] = beta2 * second[name][i] + (1 - beta2) * gradient**2
                m, v = first[name][i] / (1 - beta1**step), second[name][i] / (1 - beta2**step)
                expected[name][i] -= rate * m / (math.sqrt(v) + epsilon)
        optimizer.step()
        for name, parameter in network.named_parameters():
            assert parameter.flatten().tolist() == pytest.approx(expected[name], rel=1e-9, abs=1e-12)


def test_every_parameter_is_trained_once() -> None:
    network = _network()
    optimizer = build_optimizer(network, rate=0.1, betas=(0.9, 0.999), epsilon=1e-8, weight_decay=0.0)
    trained = [id(parameter) for group in optimizer.param_groups for parameter in group["params"]]
    assert sorted(trained) == sorted(id(parameter) for parameter in network.parameters())


def test_the_rate_rises_linearly_and_falls_as_half_a_cosine() -> None:
    rates = [learning_rate(step, peak=2.0, warmup=4, total=24, floor=0.1) for step in range(30)]
    assert rates[:4] == pytest.approx([0.5, 1.0, 1.5, 2.0])
    assert rates[4] == pytest.approx(2.0)
    assert rates[14] == pytest.approx((2.0 + 0.2) / 2)  # halfway
    assert rates[9] == pytest.approx(0.2 + 1.8 * (1 + math.cos(math.pi / 4)) / 2)
    assert rates[24:] == pytest.approx([0.2] * 6)
    assert all(one > other for one, other in pairwise(rates[4:25]))


def test_the_rate_without_warm_up_or_decay() -> None:
    assert learning_rate(0, peak=2.0, warmup=0, total=10, floor=0.0) == pytest.approx(2.0)
    assert learning_rate(10, peak=2.0, warmup=0, total=10, floor=0.0) == pytest.approx(0.0)
    assert [learning_rate(s, peak=2.0, warmup=0, total=10, floor=1.0) for s in (0, 5, 10, 99)] == [2.0] * 4
    assert learning_rate(5, peak=2.0, warmup=5, total=5, floor=0.5) == pytest.approx(2.0)


@pytest.mark.parametrize("step", [0, 1, 100, 10_000])
@pytest.mark.parametrize("eta", [0.1, 1.0])
def test_gradient_noise_has_the_variance_of_neelakantan(eta: float, step: int) -> None:
    layer = nn.Linear(300, 200)
    with torch.no_grad():
        layer.weight.fill_(0.0)
    layer.weight.grad = torch.full_like(layer.weight, 3.0)
    torch.manual_seed(step)
    add_gradient_noise(layer, eta=eta, step=step)
    noise = layer.weight.grad - 3.0
    variance = eta / (1 + step) ** 0.55
    # with 60,000 draws the standard error of the variance is 0.6 %, that of the mean 1/245 of a deviation
    assert float(noise.var()) == pytest.approx(variance, rel=0.025)
    assert abs(float(noise.mean())) < 4 * math.sqrt(variance / noise.numel())
    assert layer.bias.grad is None
    assert not layer.weight.any()


def test_gradient_noise_depends_on_the_seed_and_differs_between_parameters() -> None:
    drawn = []
    for seed in (1, 1, 2):
        network = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])
        for layer in network:
            layer.weight.grad = torch.zeros(3, 3)
        torch.manual_seed(seed)
        add_gradient_noise(network, eta=0.1, step=0)
        drawn.append([layer.weight.grad for layer in network])
    assert torch.equal(drawn[0][0], drawn[1][0])
    assert not torch.equal(drawn[0][0], drawn[2][0])
    assert not torch.equal(drawn[0][0], drawn[0][1])


@pytest.mark.parametrize("decay", [0.3, 0.999])
def test_the_average_follows_its_formula(decay: float) -> None:
    network = _network().double()
    average = WeightAverage(network, decay)
    expected = {name: parameter.detach().clone() for name, parameter in network.named_parameters()}
    for update in range(1, 6):
        with torch.no_grad():
            for parameter in network.parameters():
                parameter.add_(torch.randn_like(parameter))
        average.update(network)
        share = min(decay, (1 + update) / (10 + update))
        for name, parameter in network.named_parameters():
            expected[name] = share * expected[name] + (1 - share) * parameter.detach()
            torch.testing.assert_close(average.shadow[name], expected[name])


def test_the_average_replaces_the_weights_only_within_its_context() -> None:
    network = _network()
    average = WeightAverage(network, 0.5)
    began = {name: parameter.detach().clone() for name, parameter in network.named_parameters()}
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(1.0)
    trained = {name: parameter.detach().clone() for name, parameter in network.named_parameters()}

    def holds(weights: dict[str, torch.Tensor]) -> bool:
        return all(torch.equal(parameter, weights[name]) for name, parameter in network.named_parameters())

    def fail_within() -> None:
        with average.applied_to(network):
            assert holds(began)
            raise RuntimeError("evaluation failed")

    with average.applied_to(network):
        assert holds(began)
    assert holds(trained)
    with pytest.raises(RuntimeError, match="evaluation failed"):
        fail_within()
    assert holds(trained)
    assert all(parameter.requires_grad for parameter in network.parameters())
