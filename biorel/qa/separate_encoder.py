"""Question and passage encoded apart, and mixed before the passage is: DGCNN, or with BRAN's blocks for the passage."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from biorel.model.transformer import Transformer
from biorel.qa.features import FEATURES
from biorel.qa.gated_convolutions import GatedStack
from biorel.qa.layers import AttentivePooling, FactoredLinear, sinusoids
from biorel.qa.sizes import ReaderConfig
from biorel.qa.spans import Questions


def dgcnn(sizes: ReaderConfig) -> nn.Module:
    return GatedStack(
        inner=sizes.width,
        width=sizes.width,
        kernel=sizes.kernel,
        dilations=sizes.dilations,
        noise=sizes.gate_noise,
        dropout=sizes.dropout,
    )


def bran(sizes: ReaderConfig) -> nn.Module:
    return Transformer(
        width=sizes.width,
        blocks=sizes.blocks,
        heads=sizes.heads,
        kernels=(1, 5, 1),
        expansion=4,
        dropout=sizes.dropout,
    )


class SeparateEncoder(nn.Module):
    """Every token of the passage beside its features, its position and the question's one vector, then in context."""

    def __init__(self, sizes: ReaderConfig, passage: Callable[[ReaderConfig], nn.Module]) -> None:
        super().__init__()
        self.sizes = sizes
        self.embedding = nn.Embedding(sizes.vocabulary, sizes.embedding, padding_idx=0)
        self.question = GatedStack(
            inner=sizes.embedding,
            width=sizes.width,
            kernel=sizes.kernel,
            dilations=sizes.question_dilations,
            noise=sizes.gate_noise,
            dropout=sizes.dropout,
        )
        self.question_pooling = AttentivePooling(width=sizes.width)
        self.mix = FactoredLinear((sizes.embedding, FEATURES, sizes.positions, sizes.width), sizes.width)
        self.passage = passage(sizes)

    def forward(self, batch: Questions) -> tuple[Tensor, Tensor]:
        """[B, T, D] tokens of the passages and [B, D] questions."""
        asked = self.question(self._embedded(batch.question_ids), batch.question_mask)
        question = self.question_pooling(asked, batch.question_mask)  # [B, D]
        length = batch.token_ids.shape[1]
        places = sinusoids(length, self.sizes.positions, batch.features.device).to(batch.features.dtype)
        mixed = self.mix(self._embedded(batch.token_ids), batch.features, places, question[:, None, :])
        return self.passage(mixed, batch.token_mask), question

    def _embedded(self, ids: Tensor) -> Tensor:
        """[B, T] -> [B, T, E]; in training some words are zero, as padding is."""
        embedded: Tensor = self.embedding(ids)
        if self.training and self.sizes.word_dropout:
            kept = torch.rand(ids.shape, device=ids.device) >= self.sizes.word_dropout
            embedded = embedded * kept[..., None]
        return embedded
