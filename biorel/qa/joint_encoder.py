"""Question and passage read together by a pre-trained BERT: [CLS] question [SEP] passage [SEP]."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from biorel.model.bert import Bert, read_width, usable_positions
from biorel.qa.features import FEATURES
from biorel.qa.layers import AttentivePooling, FactoredLinear
from biorel.qa.sizes import ReaderConfig
from biorel.qa.spans import Questions


def longest_passage(config: str) -> int:
    """Tokens of a passage that leave a quarter of a BERT's positions to the question."""
    return usable_positions(config) * 3 // 4


class JointEncoder(nn.Module):
    """A BERT, then a linear map of its tokens and their features; the question is pooled from its own tokens.

    The question is cut where the positions that the passages leave are too few for it.
    """

    def __init__(self, sizes: ReaderConfig) -> None:
        super().__init__()
        self.bert = Bert(
            config=sizes.bert,
            cls_id=sizes.cls_id,
            sep_id=sizes.sep_id,
            unk_id=sizes.unk_id,
            word_dropout=sizes.word_dropout,
            checkpointing=False,
            mixed_precision=True,
        )
        self.sep_id = sizes.sep_id
        self.room = usable_positions(sizes.bert) - 1  # one for the [SEP] between
        width = read_width(sizes.bert)
        self.mix = FactoredLinear((width, FEATURES), sizes.width)
        self.question = nn.Linear(width, sizes.width)
        self.question_pooling = AttentivePooling(width=sizes.width)

    def forward(self, batch: Questions) -> tuple[Tensor, Tensor]:
        """[B, T, D] tokens of the passages and [B, D] questions."""
        room = max(1, self.room - batch.token_ids.shape[1])
        asked, mask = batch.question_ids[:, :room], batch.question_mask[:, :room]
        lengths, size = mask.sum(1, keepdim=True), asked.shape[1]  # [B, 1]
        between = asked.new_full((len(asked), 1), self.sep_id)
        ids = torch.cat([asked, between, batch.token_ids], dim=1)
        places = torch.arange(ids.shape[1], device=ids.device).expand_as(ids)
        # without the gap that a question shorter than the others leaves
        packed = (places + (places >= lengths) * (size - lengths)).clamp(max=ids.shape[1] - 1)
        real = places <= lengths + batch.token_mask.sum(1, keepdim=True)
        hidden = self.bert(ids.gather(1, packed) * real, real)  # [B, Q + 1 + T, W]
        own = lengths + 1 + torch.arange(batch.token_ids.shape[1], device=ids.device)
        own = own.clamp(max=ids.shape[1] - 1)
        passage = hidden.gather(1, own[:, :, None].expand(-1, -1, hidden.shape[2]))
        question = self.question_pooling(self.question(hidden[:, :size]), mask)
        return self.mix(passage, batch.features), question
