"""BRAN's Transformer (section 2.2): B blocks of attention and convolutions."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from biorel.model.branches import Layout
from biorel.model.encoders.attention import Attention
from biorel.model.encoders.convolutions import Convolutions


class Transformer(nn.Module):
    """b^(k) = Convolutions_k(Attention_k(b^(k-1))), each half with its residual and layer norm.

    `heads` 0 leaves the attention out: the paper's ablation 'CNN only'. Kernels (1, 1, 1) are its
    ablation 'no width-5'.
    """

    def __init__(
        self, *, width: int, blocks: int, heads: int, kernels: Sequence[int], expansion: int, dropout: float
    ) -> None:
        super().__init__()
        halves: list[nn.Module] = []
        for _ in range(blocks):
            if heads:
                halves.append(Attention(width=width, heads=heads, dropout=dropout))
            halves.append(Convolutions(width=width, kernels=kernels, expansion=expansion, dropout=dropout))
        self.halves = nn.ModuleList(halves)

    def forward(self, tokens: Tensor, mask: Tensor, layout: Layout | None = None) -> Tensor:
        """[B, T, D] and [B, T] -> [B, T, D]; with a layout [B, S, D] and [B, S] -> [B, S, D].

        Then attention goes by who sees whom, and the text and each branch are convolved by themselves.
        """
        for half in self.halves:
            if layout is None:
                tokens = half(tokens, mask)
            elif isinstance(half, Attention):
                tokens = half(tokens, layout.visible)
            else:
                tokens = layout.by_chain(half, tokens)
        return tokens
