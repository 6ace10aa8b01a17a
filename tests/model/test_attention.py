"""Section 2.2.1: attention equals a loop over documents, tokens and heads."""

import math

import numpy as np
import pytest
import torch

from biorel.model.transformer import Attention
from tests.builders import scrambled
from tests.model.naive import affine, layer_norm, relu, softmax, weights

WIDTH, HEADS = 6, 3
LENGTHS = (5, 3, 1)


def _naive(tokens: np.ndarray, length: int, w: dict[str, np.ndarray]) -> np.ndarray:
    """The real tokens of one document."""
    size = WIDTH // HEADS
    queries, keys, values = (
        [relu(affine(w[f"{name}.weight"], w[f"{name}.bias"], tokens[i])) for i in range(length)]
        for name in ("queries", "keys", "values")
    )
    out = []
    for i in range(length):
        joined = []
        for head in range(HEADS):
            part = slice(head * size, (head + 1) * size)
            scores = [float(queries[i][part] @ keys[j][part]) / math.sqrt(size) for j in range(length)]
            shares = softmax(scores)
            joined.extend(sum(shares[j] * values[j][part] for j in range(length)))
        out.append(layer_norm(tokens[i] + np.array(joined), w["norm.weight"], w["norm.bias"]))
    return np.array(out)


@pytest.fixture
def attention() -> Attention:
    return scrambled(Attention(width=WIDTH, heads=HEADS, dropout=0.5))


@pytest.fixture
def tokens() -> torch.Tensor:
    return torch.randn(
        len(LENGTHS), max(LENGTHS), WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(1)
    )


def _mask() -> torch.Tensor:
    return torch.arange(max(LENGTHS))[None] < torch.tensor(LENGTHS)[:, None]


def test_equals_a_loop_over_tokens_and_heads(attention: Attention, tokens: torch.Tensor) -> None:
    found = attention(tokens, _mask()).detach().numpy()
    for row, length in enumerate(LENGTHS):
        expected = _naive(tokens[row].numpy(), length, weights(attention))
        np.testing.assert_allclose(found[row, :length], expected, atol=1e-10)


def test_no_token_attends_to_padding(attention: Attention, tokens: torch.Tensor) -> None:
    mask = _mask()
    changed = torch.where(mask[..., None], tokens, torch.full_like(tokens, 1e3))
    torch.testing.assert_close(attention(tokens, mask)[mask], attention(changed, mask)[mask], atol=1e-12, rtol=0)


def test_a_document_of_only_padding_gives_finite_values_and_gradients(
    attention: Attention, tokens: torch.Tensor
) -> None:
    mask = _mask()
    mask[1] = False
    tokens.requires_grad_()
    out = attention(tokens, mask)
    out.sum().backward()
    assert torch.isfinite(out).all()
    assert torch.isfinite(tokens.grad).all()


def test_dropout_does_not_affect_the_residual() -> None:
    attention = scrambled(Attention(width=WIDTH, heads=HEADS, dropout=1.0)).train()
    tokens = torch.randn(1, 2, WIDTH, dtype=torch.float64)
    w = weights(attention)
    found = attention(tokens, torch.ones(1, 2, dtype=torch.bool))[0].detach().numpy()
    expected = [layer_norm(token, w["norm.weight"], w["norm.bias"]) for token in tokens[0].numpy()]
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_width_must_be_a_multiple_of_the_heads() -> None:
    with pytest.raises(ValueError, match="width 6 is not a multiple of 4 heads"):
        Attention(width=6, heads=4, dropout=0.0)
