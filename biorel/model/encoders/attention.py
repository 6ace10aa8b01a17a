"""Multi-head self-attention as BRAN has it (section 2.2.1)."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn


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
