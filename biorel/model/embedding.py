"""The input of the encoder (section 2.1): token embedding plus learned position embedding."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

POSITION_STD = 0.02


class InputEmbedding(nn.Module):
    """x_i = s_i + p_i, scaled by sqrt(D) before the blocks, as the Transformer does.

    Beyond the last of the learned positions one fixed random vector stands for p_i.
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

    def forward(self, token_ids: Tensor, places: Tensor | None = None) -> Tensor:
        """[B, T] token ids -> [B, T, D]; `places` [B, T] are positions other than 0 to T - 1."""
        if self.training and self.word_dropout > 0:
            dropped = torch.rand(token_ids.shape, device=token_ids.device) < self.word_dropout
            token_ids = token_ids.masked_fill(dropped, self.unk_id)
        if places is None:
            places = torch.arange(token_ids.shape[1], device=token_ids.device)
        places = places.clamp(max=self.positions.num_embeddings)
        table = torch.cat([self.positions.weight, self.beyond])  # [positions + 1, D]
        scale = math.sqrt(self.tokens.embedding_dim)
        embedded: Tensor = self.dropout((self.tokens(token_ids) + table[places]) * scale)
        return embedded
