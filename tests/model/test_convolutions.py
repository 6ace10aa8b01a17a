"""Section 2.2.2: the convolutions equal a loop over tokens, kernel positions and channels."""

import numpy as np
import pytest
import torch

from biorel.model.transformer import Convolutions
from tests.builders import scrambled
from tests.model.naive import layer_norm, relu, weights

WIDTH, EXPANSION = 3, 2
LENGTHS = (7, 4, 1)


def _convolve(rows: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """[T, in] -> [T, out], with zeros beyond both ends of the document."""
    outs, _, kernel = weight.shape
    result = np.tile(bias, (len(rows), 1))
    for token in range(len(rows)):
        for out in range(outs):
            for place in range(kernel):
                source = token + place - kernel // 2
                if 0 <= source < len(rows):
                    result[token, out] += float(weight[out, :, place] @ rows[source])
    return result


def _naive(tokens: np.ndarray, w: dict[str, np.ndarray]) -> np.ndarray:
    t0 = np.array([relu(row) for row in _convolve(tokens, w["layers.0.weight"], w["layers.0.bias"])])
    t1 = np.array([relu(row) for row in _convolve(t0, w["layers.1.weight"], w["layers.1.bias"])])
    t2 = _convolve(t1, w["layers.2.weight"], w["layers.2.bias"])
    return np.array([layer_norm(m + t, w["norm.weight"], w["norm.bias"]) for m, t in zip(tokens, t2, strict=True)])


def _stack(kernels: tuple[int, ...]) -> Convolutions:
    return scrambled(Convolutions(width=WIDTH, kernels=kernels, expansion=EXPANSION, dropout=0.5))


def _documents() -> tuple[torch.Tensor, torch.Tensor]:
    tokens = torch.randn(
        len(LENGTHS), max(LENGTHS), WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(2)
    )
    return tokens, torch.arange(max(LENGTHS))[None] < torch.tensor(LENGTHS)[:, None]


@pytest.mark.parametrize("kernels", [(1, 5, 1), (1, 1, 1), (3, 5, 3)])
def test_equals_a_loop_and_padding_is_zero_before_each_convolution(kernels: tuple[int, ...]) -> None:
    stack, (tokens, mask) = _stack(kernels), _documents()
    found = stack(tokens, mask).detach().numpy()
    for row, length in enumerate(LENGTHS):
        expected = _naive(tokens[row, :length].numpy(), weights(stack))
        np.testing.assert_allclose(found[row, :length], expected, atol=1e-10)


def test_inner_channels_are_expanded() -> None:
    shapes = [tuple(layer.weight.shape) for layer in _stack((1, 5, 1)).layers]
    assert shapes == [(6, 3, 1), (6, 6, 5), (3, 6, 1)]


def test_padding_does_not_affect_real_tokens() -> None:
    stack, (tokens, mask) = _stack((3, 5, 3)), _documents()
    changed = torch.where(mask[..., None], tokens, torch.full_like(tokens, 1e3))
    torch.testing.assert_close(stack(tokens, mask)[mask], stack(changed, mask)[mask], atol=1e-12, rtol=0)


def test_a_token_depends_on_two_neighbours_on_either_side() -> None:
    stack = _stack((1, 5, 1))
    tokens = torch.randn(1, 9, WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(3)).requires_grad_()
    stack(tokens, torch.ones(1, 9, dtype=torch.bool))[0, 4].square().sum().backward()
    influences = tokens.grad[0].abs().sum(-1) > 0
    assert influences.tolist() == [False, False, True, True, True, True, True, False, False]
