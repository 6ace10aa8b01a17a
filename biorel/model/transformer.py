"""BRAN's Transformer (section 2.2): B blocks of attention and convolutions."""

from __future__ import annotations

from collections.abc import Sequence

import torch.nn.functional as F
from torch import Tensor, nn

from biorel.model.branches import Layout


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


# MERGED from model.encoders: Encoders: [B, T, D] embedded tokens and their mask -> [B, T, D] tokens in context.
ENCODERS = {"transformer": Transformer}


# MERGED from model.encoders.attention: Multi-head self-attention as BRAN has it (section 2.2.1).
class Attention(nn.Module):
    """m = LN(b + dropout([o_1; ...; o_h])), with o_ih = sum_j softmax_j(q_ih . k_jh / sqrt(D/h)) v_jh.

    Q, K and V are affine maps with ReLU; the heads are joined without an output projection.
    There is no dropout on the attention weights: it leaves the fused kernel.
    """

    def __init__(self, *, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(f"width {width} is not a multiple of {heads} heads")
        self.heads = heads
        self.queries = nn.Linear(width, width)
        self.keys = nn.Linear(width, width)
        self.values = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """[B, T, D] -> [B, T, D].

        Args:
            mask: [B, T], a padded token is attended by none; or [B, T, T], which token (row) attends to which. What is
                False there adds minus infinity before the softmax.
        """
        q, k, v = (self._split(F.relu(projection(tokens))) for projection in (self.queries, self.keys, self.values))
        visible = mask[:, None, None, :] if mask.dim() == 2 else mask[:, None]
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=visible)  # [B, h, T, D/h]
        joined = heads.transpose(1, 2).flatten(2)  # [B, T, D]
        attended: Tensor = self.norm(tokens + self.dropout(joined))
        return attended

    def _split(self, tokens: Tensor) -> Tensor:
        """[B, T, D] -> [B, h, T, D/h]."""
        batch, length, width = tokens.shape
        return tokens.view(batch, length, self.heads, width // self.heads).transpose(1, 2)


# MERGED from model.encoders.convolutions: The convolutional half of a block (section 2.2.2): widths 1, 5, 1 with 4D, 4D, D channels.
class Convolutions(nn.Module):
    """b = LN(m + t2), with t0 = ReLU(C_1(m)), t1 = ReLU(C_5(t0)), t2 = C_1(t1).

    Padding is set to zero before each convolution, so that a document scores the same alone and in a batch.
    """

    def __init__(self, *, width: int, kernels: Sequence[int], expansion: int, dropout: float) -> None:
        super().__init__()
        inner = width * expansion
        sizes = [width, *[inner] * (len(kernels) - 1), width]
        self.layers = nn.ModuleList(
            nn.Conv1d(before, after, kernel, padding="same")
            for before, after, kernel in zip(sizes, sizes[1:], kernels, strict=False)
        )
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """[B, T, D] and [B, T] -> [B, T, D]."""
        real = mask[:, None, :]
        channels = tokens.transpose(1, 2)  # [B, D, T]
        for number, layer in enumerate(self.layers, start=1):
            channels = layer(channels * real)
            if number < len(self.layers):
                channels = self.dropout(F.relu(channels))
        convolved: Tensor = self.norm(tokens + self.dropout(channels.transpose(1, 2)))
        return convolved
