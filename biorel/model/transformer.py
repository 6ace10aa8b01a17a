"""BRAN's Transformer (section 2.2): B blocks, each of multi-head attention and a stack of convolutions."""

from __future__ import annotations

from collections.abc import Sequence

import torch.nn.functional as F
from torch import Tensor, nn

from biorel.model.branches import Layout


class Attention(nn.Module):
    """Multi-head self-attention (section 2.2.1).

        a_ijh = softmax_j(q_ih . k_jh / sqrt(D / h))
        o_ih  = sum_j v_jh a_ijh
        m_i   = LN(b_i + dropout([o_i1; ...; o_ih]))

    q, k and v are affine maps with ReLU, and the heads are joined without an output projection. The paper divides by
    sqrt(D). There is no dropout on the attention weights, which would rule out the fused kernel.
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
            mask: [B, T], the real tokens, which all may attend to; or [B, T, T], True where the token of the row may
                attend to the token of the column.
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


class Convolutions(nn.Module):
    """A stack of convolutions (section 2.2.2), by default of widths 1, 5, 1 with 4D, 4D and D channels.

        t_i^(0) = ReLU(C_1(m_i))
        t_i^(1) = ReLU(C_5(t_i^(0)))
        t_i^(2) = C_1(t_i^(1))
        b_i     = LN(m_i + dropout(t_i^(2)))

    Padding is set to zero before each convolution, so that a document gets the same scores alone and in a batch.
    """

    def __init__(self, *, width: int, kernels: Sequence[int], expansion: int, dropout: float) -> None:
        super().__init__()
        inner = width * expansion
        channels = [width, *[inner] * (len(kernels) - 1), width]
        self.layers = nn.ModuleList(
            nn.Conv1d(before, after, kernel, padding="same")
            for before, after, kernel in zip(channels, channels[1:], kernels, strict=False)
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


class Block(nn.Module):
    """Transformer_k (section 2.2): attention, then convolutions, each with a residual connection and layer norm."""

    def __init__(self, *, width: int, heads: int, kernels: Sequence[int], expansion: int, dropout: float) -> None:
        super().__init__()
        self.attention = Attention(width=width, heads=heads, dropout=dropout) if heads else None
        self.convolutions = Convolutions(width=width, kernels=kernels, expansion=expansion, dropout=dropout)

    def forward(self, tokens: Tensor, mask: Tensor, layout: Layout | None = None) -> Tensor:
        """[B, T, D] and [B, T] -> [B, T, D], or with a layout [B, S, D] and [B, S] -> [B, S, D]."""
        if self.attention is not None:
            tokens = self.attention(tokens, mask if layout is None else layout.visible)
        convolved: Tensor
        if layout is None:
            convolved = self.convolutions(tokens, mask)
        else:
            convolved = layout.apply_to_sequences(self.convolutions, tokens)
        return convolved


class Transformer(nn.Module):
    """b_i^(0) = x_i, then b_i^(k) from Transformer_k (section 2.2).

    With 0 heads there is no attention: the paper's ablation 'CNN only'. Kernels (1, 1, 1) are its ablation
    'no width-5'.
    """

    def __init__(
        self, *, width: int, blocks: int, heads: int, kernels: Sequence[int], expansion: int, dropout: float
    ) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(
            Block(width=width, heads=heads, kernels=kernels, expansion=expansion, dropout=dropout)
            for _ in range(blocks)
        )

    def forward(self, tokens: Tensor, mask: Tensor, layout: Layout | None = None) -> Tensor:
        """[B, T, D] and [B, T] -> [B, T, D], or with a layout [B, S, D] and [B, S] -> [B, S, D].

        The layout limits which tokens attend to each other, and keeps convolutions within the text and each branch.
        """
        for block in self.blocks:
            tokens = block(tokens, mask, layout)
        return tokens


# encoders map [B, T, D] embedded tokens and their mask to [B, T, D] tokens in context; a new one is a file and a line
ENCODERS = {"transformer": Transformer}
