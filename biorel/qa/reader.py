"""The reader: an encoder of question and passage, then a head that predicts answer spans."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from biorel.qa.batches import QuestionBatch, Targets
from biorel.qa.heads import HEADS, EncodedPassage, SpanProbabilities
from biorel.qa.joint_encoder import JointEncoder
from biorel.qa.layers import AdditiveAttention
from biorel.qa.reader_config import ReaderConfig
from biorel.qa.separate_encoder import SeparateEncoder, bran_blocks, dgcnn_blocks

# at first 'no answer' is about as probable as all tokens of an abstract together
_INITIAL_NO_ANSWER_LOGIT = 6.0

ENCODERS: dict[str, Callable[[ReaderConfig], SeparateEncoder | JointEncoder]] = {
    "dgcnn": lambda config: SeparateEncoder(config, dgcnn_blocks),
    "bran": lambda config: SeparateEncoder(config, bran_blocks),
    "bert": JointEncoder,
}


class Reader(nn.Module):
    """An encoder and a head. For heads with a softmax over the tokens, a no-answer token is put first."""

    def __init__(self, config: ReaderConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = ENCODERS[config.encoder](config)
        self.head = HEADS[config.head](config)
        if self.head.has_no_answer_token:
            self.passage_pooling = AdditiveAttention(width=config.width)
            self.null = nn.Linear(2 * config.width, config.width)
            self.no_answer = nn.Linear(2 * config.width, 1)
            nn.init.constant_(self.no_answer.bias, _INITIAL_NO_ANSWER_LOGIT)

    def encode(self, batch: QuestionBatch) -> EncodedPassage:
        """The passages' tokens in context, after the no-answer token if the head has one."""
        tokens, question = self.encoder(batch)
        if not self.head.has_no_answer_token:
            return EncodedPassage(tokens, batch.token_mask, question)
        passage = self.passage_pooling(tokens, batch.token_mask)
        both = torch.cat([passage, question], dim=-1)
        no_answer_token = self.null(both)[:, None, :]
        real = batch.token_mask.new_ones(len(tokens), 1)
        return EncodedPassage(
            torch.cat([no_answer_token, tokens], dim=1),
            torch.cat([real, batch.token_mask], dim=1),
            question,
            self.no_answer(both).squeeze(-1),
        )

    def loss(self, batch: QuestionBatch, targets: Targets) -> Tensor:
        """The head's loss. `starts` and `ends` count the no-answer token if the head has one: 0 is 'no answer'."""
        return self.head.loss(self.encode(batch), targets)

    @torch.no_grad()
    def span_probabilities(self, batch: QuestionBatch, beam: int) -> tuple[SpanProbabilities, ...]:
        """The head's span probabilities, one for each direction; tokens count the no-answer token if there is one."""
        return self.head.span_probabilities(self.encode(batch), beam)
