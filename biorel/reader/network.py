"""The reader: question and passage into tokens in context, then a head that says which spans answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Self

import torch
from torch import Tensor, nn

from biorel.model.encoders.transformer import Transformer
from biorel.reader.attention import AttentivePooling
from biorel.reader.features import FEATURES
from biorel.reader.gated import GatedStack
from biorel.reader.labels import Labels
from biorel.reader.matrix import MatrixBoth, MatrixForward
from biorel.reader.mix import Mix
from biorel.reader.pointers import Independent, VectorConditional
from biorel.reader.positions import sinusoids
from biorel.reader.spans import Direction, Read, Targets

Head = Labels | Independent | MatrixForward


@dataclass(frozen=True, kw_only=True)
class ReaderSizes:
    """All that fixes the parameters of a reader, and its dropout (probabilities to drop)."""

    vocabulary: int
    head: str = "labels"
    encoder: str = "dgcnn"
    width: int = 64
    embedding: int = 64
    positions: int = 64
    kernel: int = 3
    dilations: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64, 128, 1)
    question_dilations: tuple[int, ...] = (1, 2)
    blocks: int = 2
    heads: int = 4
    window: int = 500
    sample: int = 20
    focus: float = 2.0
    gate_noise: float = 0.1
    word_dropout: float = 0.1
    dropout: float = 0.1


# DGCNN's own; InD, VCP, MaP_F and MaP_E of the comparison in MaP
HEADS: dict[str, Callable[[ReaderSizes], Head]] = {
    "labels": lambda sizes: Labels(width=sizes.width, inner=sizes.width, focus=sizes.focus),
    "independent": lambda sizes: Independent(width=sizes.width, inner=sizes.width),
    "vector": lambda sizes: VectorConditional(width=sizes.width, inner=sizes.width),
    "matrix": lambda sizes: MatrixForward(width=sizes.width, inner=sizes.width, sample=sizes.sample),
    "matrix-both": lambda sizes: MatrixBoth(width=sizes.width, inner=sizes.width, sample=sizes.sample),
}


def _dgcnn(sizes: ReaderSizes) -> nn.Module:
    return GatedStack(
        inner=sizes.width,
        width=sizes.width,
        kernel=sizes.kernel,
        dilations=sizes.dilations,
        noise=sizes.gate_noise,
        dropout=sizes.dropout,
    )


def _bran(sizes: ReaderSizes) -> nn.Module:
    return Transformer(
        width=sizes.width,
        blocks=sizes.blocks,
        heads=sizes.heads,
        kernels=(1, 5, 1),
        expansion=4,
        dropout=sizes.dropout,
    )


ENCODERS: dict[str, Callable[[ReaderSizes], nn.Module]] = {"dgcnn": _dgcnn, "bran": _bran}


@dataclass(frozen=True)
class Questions:
    """A batch: [B, Q] question and [B, T] passage token ids with their masks, [B, T, 8] features."""

    question_ids: Tensor
    question_mask: Tensor
    token_ids: Tensor
    token_mask: Tensor
    features: Tensor

    def to(self, device: torch.device) -> Self:
        return type(self)(**{field.name: getattr(self, field.name).to(device) for field in fields(self)})


class Reader(nn.Module):
    """Encode, mix, encode, answer. Heads that are softmax over the tokens have a token more, first: no answer."""

    def __init__(self, sizes: ReaderSizes) -> None:
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
        self.mix = Mix((sizes.embedding, FEATURES, sizes.positions, sizes.width), sizes.width)
        self.passage = ENCODERS[sizes.encoder](sizes)
        self.head = HEADS[sizes.head](sizes)
        if self.head.null:
            self.passage_pooling = AttentivePooling(width=sizes.width)
            self.null = nn.Linear(2 * sizes.width, sizes.width)

    def read(self, batch: Questions) -> Read:
        """The passages' tokens in context; with the null token first where the head has one."""
        asked = self.question(self._embedded(batch.question_ids), batch.question_mask)
        question = self.question_pooling(asked, batch.question_mask)  # [B, D]
        size, length = batch.token_ids.shape
        places = sinusoids(length, self.sizes.positions, batch.features.device).to(batch.features.dtype)
        mixed = self.mix(self._embedded(batch.token_ids), batch.features, places, question[:, None, :])
        tokens = self.passage(mixed, batch.token_mask)
        if not self.head.null:
            return Read(tokens, batch.token_mask, question)
        overall = self.passage_pooling(tokens, batch.token_mask)
        null = self.null(torch.cat([overall, question], dim=-1))[:, None, :]
        always = batch.token_mask.new_ones(size, 1)
        return Read(torch.cat([null, tokens], dim=1), torch.cat([always, batch.token_mask], dim=1), question)

    def loss(self, batch: Questions, targets: Targets) -> Tensor:
        """The loss of the head; of a head with a null token place 0 of `starts` and `ends` is 'no answer'."""
        return self.head.loss(self.read(batch), targets)

    @torch.no_grad()
    def directions(self, batch: Questions, beam: int) -> tuple[Direction, ...]:
        """What the head says of spans; places count the null token where there is one."""
        return self.head.directions(self.read(batch), beam)

    def _embedded(self, ids: Tensor) -> Tensor:
        """[B, T] -> [B, T, E]; in training some words are zero, as padding is."""
        embedded: Tensor = self.embedding(ids)
        if self.training and self.sizes.word_dropout:
            kept = torch.rand(ids.shape, device=ids.device) >= self.sizes.word_dropout
            embedded = embedded * kept[..., None]
        return embedded
