"""BRAN's encoder as a masked language model: some tokens are hidden, and the network predicts them from their context.

A hidden token becomes UNK, as with word dropout when relations are trained. The embedding and the encoder have the
names that they have in `Bran`; the layers after them serve this task only.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from biorel.model.embedding import InputEmbedding
from biorel.model.transformer import ENCODERS

SHARED = ("embedding.", "encoder.")


@dataclass(frozen=True, kw_only=True)
class MaskedConfig:
    """Everything that determines the network's parameters and its dropout; the fields are as in `bran.BranConfig`."""

    vocabulary: int
    width: int
    blocks: int
    heads: int
    kernels: tuple[int, ...]
    expansion: int
    positions: int
    encoder: str = "transformer"
    unk_id: int = 1
    input_dropout: float = 0.1
    inner_dropout: float = 0.1


class MaskedLanguageModel(nn.Module):
    """Token scores of hidden tokens: s = E LN(GELU(W b)) + c, where E is the token embedding of the input."""

    def __init__(self, config: MaskedConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = InputEmbedding(
            vocabulary=config.vocabulary,
            width=config.width,
            positions=config.positions,
            unk_id=config.unk_id,
            word_dropout=0.0,
            dropout=config.input_dropout,
        )
        self.encoder = ENCODERS[config.encoder](
            width=config.width,
            blocks=config.blocks,
            heads=config.heads,
            kernels=config.kernels,
            expansion=config.expansion,
            dropout=config.inner_dropout,
        )
        self.transform = nn.Linear(config.width, config.width)
        self.norm = nn.LayerNorm(config.width)
        self.bias = nn.Parameter(torch.zeros(config.vocabulary))

    def forward(self, token_ids: Tensor, mask: Tensor, hidden: Tensor) -> Tensor:
        """Score every token of the vocabulary for each hidden token.

        Args:
            token_ids, mask: [B, T], where T is at most the learned positions.
            hidden: [J], flat indices of the hidden tokens in [B T].

        Returns:
            [J, V] scores.
        """
        tokens: Tensor = self.encoder(self.embedding(token_ids), mask)
        transformed = self.norm(F.gelu(self.transform(tokens.flatten(0, 1)[hidden])))  # [J, D]
        return F.linear(transformed, self.embedding.tokens.weight, self.bias)
