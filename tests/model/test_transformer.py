"""Section 2.2: blocks of attention and convolutions, and the paper's ablation without attention."""

import torch

from biorel.model.transformer import Transformer
from tests.builders import scrambled


def _transformer(heads: int) -> Transformer:
    return scrambled(Transformer(width=4, blocks=2, heads=heads, kernels=(1, 5, 1), expansion=2, dropout=0.3))


def test_blocks_are_applied_in_order_and_share_no_parameters() -> None:
    transformer = _transformer(2)
    assert len(transformer.blocks) == 2
    tokens = torch.randn(2, 5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    expected = tokens
    for block in transformer.blocks:
        expected = block.convolutions(block.attention(expected, mask), mask)
    torch.testing.assert_close(transformer(tokens, mask), expected, atol=0, rtol=0)
    pointers = [parameter.data_ptr() for parameter in transformer.parameters()]
    assert len(set(pointers)) == len(pointers)


def test_without_heads_it_is_the_ablation_cnn_only() -> None:
    transformer = _transformer(0)
    assert [block.attention for block in transformer.blocks] == [None, None]
    tokens = torch.randn(1, 12, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(5)).requires_grad_()
    transformer(tokens, torch.ones(1, 12, dtype=torch.bool))[0, 0].square().sum().backward()
    assert (tokens.grad[0].abs().sum(-1) > 0).tolist() == [True] * 5 + [False] * 7
