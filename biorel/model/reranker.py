"""Combines BRAN's scores with a linear model of lexical features, and rescores each pair against its competing pairs.

    lexical score  c = W_lexical x + W_pair f + b            a linear model, one relation against the rest
    mixed score    m = w0 + w1 c + w2 (s_r - s_NULL)         s: BRAN's scores of the pair
    final score    z = v . competing(m) + v0                 see `competing_pairs`; NULL has the score 0

A network of 800,000 parameters memorises its training pairs, so that its scores on them do not show how far to trust
it. Each part is therefore fitted on scores of documents that its inputs were not fitted on (`training.rerank`), and
BRAN's gradients reach none of them. A new reranker leaves the scores unchanged.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from biorel.model.batch import Batch
from biorel.model.competing_pairs import COMPETING_FEATURES, competing_pair_features


class Reranker(nn.Module):
    """Fitted weights, all of them buffers. Here R counts the relations without NULL.

    A new reranker keeps the log-odds of each score against NULL, except that it raises those below
    `competing_pairs.LOWEST` to that value.
    """

    lexical_weights: Tensor
    feature_weights: Tensor
    bias: Tensor
    mix: Tensor
    competing_weights: Tensor
    competing_bias: Tensor

    def __init__(self, *, lexical_features: int, pair_features: int, relations: int) -> None:
        """Build a reranker that changes nothing.

        Args:
            lexical_features: number of hash buckets.
            pair_features: F.
            relations: R, without NULL.
        """
        super().__init__()
        self.register_buffer("lexical_weights", torch.zeros(lexical_features, relations))
        self.register_buffer("feature_weights", torch.zeros(pair_features, relations))
        self.register_buffer("bias", torch.zeros(relations))
        self.register_buffer("mix", torch.tensor([0.0, 0.0, 1.0]))
        self.register_buffer("competing_weights", F.one_hot(torch.tensor(0), COMPETING_FEATURES).float())
        self.register_buffer("competing_bias", torch.zeros(()))

    def lexical_scores(self, batch: Batch) -> Tensor:
        """[P, R], the log-odds of the linear model."""
        if not batch.pair_count:
            return self.bias.new_zeros(0, len(self.bias))
        lexical = F.embedding_bag(batch.lexical_features, self.lexical_weights, batch.lexical_starts, mode="sum")
        return lexical + batch.pair_features @ self.feature_weights + self.bias

    def mixed(self, scores: Tensor, batch: Batch) -> Tensor:
        """[P, 1 + R] scores of the network, NULL in column 0 -> [P, R] log-odds."""
        return self.mix[0] + self.mix[1] * self.lexical_scores(batch) + self.mix[2] * log_odds(scores)

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        """[P, 1 + R] scores of the network, NULL in column 0 -> [P, 1 + R], where NULL has the score 0."""
        competing = competing_pair_features(
            self.mixed(scores, batch), batch.allowed[:, 1:], batch.pair_tails, batch.pair_heads, batch.pair_documents
        )  # [P, R, COMPETING_FEATURES]
        final = competing @ self.competing_weights + self.competing_bias
        return torch.cat([torch.zeros_like(final[:, :1]), final], dim=1)


def log_odds(scores: Tensor) -> Tensor:
    """[P, 1 + R], NULL in column 0 -> [P, R], each relation against NULL."""
    return scores[:, 1:] - scores[:, :1]
