"""The reader: question and passage into tokens in context, then a head that says which spans answer."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from biorel.qa.heads import Independent, Labels, MatrixBoth, MatrixForward, VectorConditional
from biorel.qa.joint_encoder import JointEncoder
from biorel.qa.layers import AttentivePooling
from biorel.qa.separate_encoder import SeparateEncoder, bran, dgcnn
from biorel.qa.sizes import ReaderConfig
from biorel.qa.spans import Direction, EncodedPassage, Questions, Targets

# 'no answer' begins about as probable as all the tokens of an abstract together
_NULL_START = 6.0

Head = Labels | Independent | MatrixForward


# DGCNN's own; InD, VCP, MaP_F and MaP_E of the comparison in MaP
HEADS: dict[str, Callable[[ReaderConfig], Head]] = {
    "labels": lambda sizes: Labels(width=sizes.width, inner=sizes.width, focus=sizes.focus),
    "independent": lambda sizes: Independent(width=sizes.width, inner=sizes.width),
    "vector": lambda sizes: VectorConditional(width=sizes.width, inner=sizes.width),
    "matrix": lambda sizes: MatrixForward(width=sizes.width, inner=sizes.width, sample=sizes.sample),
    "matrix-both": lambda sizes: MatrixBoth(width=sizes.width, inner=sizes.width, sample=sizes.sample),
}


ENCODERS: dict[str, Callable[[ReaderConfig], SeparateEncoder | JointEncoder]] = {
    "dgcnn": lambda sizes: SeparateEncoder(sizes, dgcnn),
    "bran": lambda sizes: SeparateEncoder(sizes, bran),
    "bert": JointEncoder,
}


class Reader(nn.Module):
    """Encode, answer. Heads that are softmax over the tokens have a token more, first: no answer."""

    def __init__(self, sizes: ReaderConfig) -> None:
        super().__init__()
        self.sizes = sizes
        self.encoder = ENCODERS[sizes.encoder](sizes)
        self.head = HEADS[sizes.head](sizes)
        if self.head.null:
            self.passage_pooling = AttentivePooling(width=sizes.width)
            self.null = nn.Linear(2 * sizes.width, sizes.width)
            self.no_answer = nn.Linear(2 * sizes.width, 1)
            nn.init.constant_(self.no_answer.bias, _NULL_START)

    def read(self, batch: Questions) -> EncodedPassage:
        """The passages' tokens in context; with the null token first where the head has one."""
        tokens, question = self.encoder(batch)
        if not self.head.null:
            return EncodedPassage(tokens, batch.token_mask, question)
        overall = self.passage_pooling(tokens, batch.token_mask)
        both = torch.cat([overall, question], dim=-1)
        null = self.null(both)[:, None, :]
        always = batch.token_mask.new_ones(len(tokens), 1)
        return EncodedPassage(
            torch.cat([null, tokens], dim=1),
            torch.cat([always, batch.token_mask], dim=1),
            question,
            self.no_answer(both).squeeze(-1),
        )

    def loss(self, batch: Questions, targets: Targets) -> Tensor:
        """The loss of the head; of a head with a null token place 0 of `starts` and `ends` is 'no answer'."""
        return self.head.loss(self.read(batch), targets)

    @torch.no_grad()
    def directions(self, batch: Questions, beam: int) -> tuple[Direction, ...]:
        """What the head says of spans; places count the null token where there is one."""
        return self.head.directions(self.read(batch), beam)
