"""Question and passage encoded separately: DGCNN, or BRAN's transformer blocks for the passage."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from biorel.model.transformer import Transformer
from biorel.qa.batches import QuestionBatch
from biorel.qa.features import FEATURES
from biorel.qa.gated_convolutions import GatedStack
from biorel.qa.layers import AdditiveAttention, FactoredLinear, sinusoidal_positions
from biorel.qa.reader_config import ReaderConfig


def dgcnn_blocks(config: ReaderConfig) -> nn.Module:
    """DGCNN's passage encoder: gated dilated convolutions."""
    return GatedStack(
        inner=config.width,
        width=config.width,
        kernel=config.kernel,
        dilations=config.dilations,
        noise=config.gate_noise,
        dropout=config.dropout,
    )


def bran_blocks(config: ReaderConfig) -> nn.Module:
    """BRAN's encoder: self-attention with convolutions of width 1, 5 and 1."""
    return Transformer(
        width=config.width,
        blocks=config.blocks,
        heads=config.heads,
        kernels=(1, 5, 1),
        expansion=4,
        dropout=config.dropout,
    )


class SeparateEncoder(nn.Module):
    """The question is encoded into one vector, which is joined to every token of the passage; then that is encoded.

    A token of the passage enters as its embedding, its features, its position and the question's vector.

    Args:
        blocks: builds the encoder of the passage, [B, T, D] and [B, T] -> [B, T, D].
    """

    def __init__(self, config: ReaderConfig, blocks: Callable[[ReaderConfig], nn.Module]) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary, config.embedding, padding_idx=0)
        self.question = GatedStack(
            inner=config.embedding,
            width=config.width,
            kernel=config.kernel,
            dilations=config.question_dilations,
            noise=config.gate_noise,
            dropout=config.dropout,
        )
        self.question_pooling = AdditiveAttention(width=config.width)
        self.mix = FactoredLinear((config.embedding, FEATURES, config.positions, config.width), config.width)
        self.passage = blocks(config)

    def forward(self, batch: QuestionBatch) -> tuple[Tensor, Tensor]:
        """[B, T, D] tokens of the passages and [B, D] questions."""
        question_tokens = self.question(self._embed(batch.question_ids), batch.question_mask)
        question = self.question_pooling(question_tokens, batch.question_mask)  # [B, D]
        length, features = batch.token_ids.shape[1], batch.features
        positions = sinusoidal_positions(length, self.config.positions, features.device).to(features.dtype)
        mixed = self.mix(self._embed(batch.token_ids), features, positions, question[:, None, :])
        return self.passage(mixed, batch.token_mask), question

    def _embed(self, ids: Tensor) -> Tensor:
        """[B, T] -> [B, T, E]. In training some tokens are set to zero, which is also the embedding of padding."""
        embedded: Tensor = self.embedding(ids)
        if self.training and self.config.word_dropout:
            kept = torch.rand(ids.shape, device=ids.device) >= self.config.word_dropout
            embedded = embedded * kept[..., None]
        return embedded
