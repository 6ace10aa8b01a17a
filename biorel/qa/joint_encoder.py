"""Question and passage encoded together by a pre-trained BERT: [CLS] question [SEP] passage [SEP]."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from biorel.model.bert import Bert, read_width, usable_positions
from biorel.qa.batches import QuestionBatch
from biorel.qa.features import FEATURES
from biorel.qa.layers import AdditiveAttention, FactoredLinear
from biorel.qa.reader_config import ReaderConfig


def longest_passage(bert: str) -> int:
    """Most tokens of a passage, given a BERT's configuration as JSON; a quarter of its positions is for questions."""
    return usable_positions(bert) * 3 // 4


class JointEncoder(nn.Module):
    """A BERT, then a linear map of each passage token with its features. The question's tokens are pooled.

    A question that is too long for the positions that the passages leave is truncated.
    """

    def __init__(self, config: ReaderConfig) -> None:
        super().__init__()
        self.bert = Bert(
            config=config.bert,
            cls_id=config.cls_id,
            sep_id=config.sep_id,
            unk_id=config.unk_id,
            word_dropout=config.word_dropout,
            checkpointing=False,
            mixed_precision=True,
        )
        self.sep_id = config.sep_id
        self.most_tokens = usable_positions(config.bert) - 1  # one position is for the [SEP] in the middle
        width = read_width(config.bert)
        self.mix = FactoredLinear((width, FEATURES), config.width)
        self.question = nn.Linear(width, config.width)
        self.question_pooling = AdditiveAttention(width=config.width)

    def forward(self, batch: QuestionBatch) -> tuple[Tensor, Tensor]:
        """[B, T, D] tokens of the passages and [B, D] questions."""
        room = max(1, self.most_tokens - batch.token_ids.shape[1])
        question_ids, question_mask = batch.question_ids[:, :room], batch.question_mask[:, :room]
        lengths, size = question_mask.sum(1, keepdim=True), question_ids.shape[1]  # [B, 1]
        separator = question_ids.new_full((len(question_ids), 1), self.sep_id)
        ids = torch.cat([question_ids, separator, batch.token_ids], dim=1)
        positions = torch.arange(ids.shape[1], device=ids.device).expand_as(ids)
        # move what follows a shorter question left, over its padding
        packed = (positions + (positions >= lengths) * (size - lengths)).clamp(max=ids.shape[1] - 1)
        real = positions <= lengths + batch.token_mask.sum(1, keepdim=True)
        hidden = self.bert(ids.gather(1, packed) * real, real)  # [B, Q + 1 + T, W]
        passage_places = lengths + 1 + torch.arange(batch.token_ids.shape[1], device=ids.device)
        passage_places = passage_places.clamp(max=ids.shape[1] - 1)
        passage = hidden.gather(1, passage_places[:, :, None].expand(-1, -1, hidden.shape[2]))
        question = self.question_pooling(self.question(hidden[:, :size]), question_mask)
        return self.mix(passage, batch.features), question
