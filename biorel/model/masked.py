"""BRAN's encoder as a masked language model: some tokens are hidden, the network names them from their context.

A hidden token is UNK, which is also what word dropout makes of tokens when relations are trained. The embedding and
the encoder have the names that they have in `Bran`; what stands above them is for this task alone.
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
class EncoderSizes:
    """All that fixes the parameters of the network, and its dropout (probabilities to drop)."""

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


class MaskedModel(nn.Module):
    """Token scores at hidden places: s = E LN(GELU(W b)) + c, with the token embedding E of the input."""

    def __init__(self, sizes: EncoderSizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.embedding = InputEmbedding(
            vocabulary=sizes.vocabulary,
            width=sizes.width,
            positions=sizes.positions,
            unk_id=sizes.unk_id,
            word_dropout=0.0,
            dropout=sizes.input_dropout,
        )
        self.encoder = ENCODERS[sizes.encoder](
            width=sizes.width,
            blocks=sizes.blocks,
            heads=sizes.heads,
            kernels=sizes.kernels,
            expansion=sizes.expansion,
            dropout=sizes.inner_dropout,
        )
        self.transform = nn.Linear(sizes.width, sizes.width)
        self.norm = nn.LayerNorm(sizes.width)
        self.bias = nn.Parameter(torch.zeros(sizes.vocabulary))

    def forward(self, token_ids: Tensor, mask: Tensor, places: Tensor) -> Tensor:
        """Score every token of the vocabulary, at the hidden places only.

        Args:
            token_ids, mask: [B, T], T at most the positions.
            places: [M] hidden tokens, as places in the flattened [B T].

        Returns:
            [M, V] scores.
        """
        tokens: Tensor = self.encoder(self.embedding(token_ids), mask)
        hidden = tokens.flatten(0, 1)[places]  # [M, D]
        named = self.norm(F.gelu(self.transform(hidden)))
        return F.linear(named, self.embedding.tokens.weight, self.bias)
