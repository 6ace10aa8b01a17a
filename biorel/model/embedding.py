"""The input of the encoder (section 2.1): token embeddings plus learned position embeddings."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

POSITION_STD = 0.02


class InputEmbedding(nn.Module):
    """x_i = s_i + p_i (section 2.1), scaled by sqrt(D) as in the Transformer of Vaswani et al. (2017).

    For i beyond the last learned position, p_i is one fixed random vector.
    """

    beyond: Tensor

    def __init__(
        self, *, vocabulary: int, width: int, positions: int, unk_id: int, word_dropout: float, dropout: float
    ) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(positions, width)
        self.dropout = nn.Dropout(dropout)
        self.unk_id = unk_id
        self.word_dropout = word_dropout
        nn.init.normal_(self.tokens.weight, std=width**-0.5)
        nn.init.normal_(self.positions.weight, std=POSITION_STD)
        self.register_buffer("beyond", torch.randn(1, width) * POSITION_STD)

    def forward(self, token_ids: Tensor, positions: Tensor | None = None) -> Tensor:
        """[B, T] token ids -> [B, T, D].

        Args:
            positions: [B, T], where the tokens are not at positions 0 to T - 1.
        """
        if self.training and self.word_dropout > 0:
            dropped = torch.rand(token_ids.shape, device=token_ids.device) < self.word_dropout
            token_ids = token_ids.masked_fill(dropped, self.unk_id)
        if positions is None:
            positions = torch.arange(token_ids.shape[1], device=token_ids.device)
        positions = positions.clamp(max=self.positions.num_embeddings)
        table = torch.cat([self.positions.weight, self.beyond])  # [positions + 1, D]
        scale = math.sqrt(self.tokens.embedding_dim)
        embedded: Tensor = self.dropout((self.tokens(token_ids) + table[positions]) * scale)
        return embedded
