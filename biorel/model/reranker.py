"""BRAN's scores beside those of a linear model of lexical cues, each pair read against its rivals.

    cue score    c = W_cues cues + W_features features + b      a linear model, one against the rest
    mixed score  m = w0 + w1 c + w2 (s_r - s_NULL)              s: BRAN's scores of the pair
    final score  z = v . rivals(m) + v0                         NULL has the score 0

A network of 800,000 parameters knows its training pairs by heart, so what it says of them does not tell how far to
trust it. Each part is therefore fitted on scores of documents that its inputs have not seen (`training.rerank`);
none is touched by the gradients of BRAN. Freshly built it changes nothing.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from biorel.model.batch import Batch
from biorel.model.competing_pairs import RIVALS, rival_features


class Reranker(nn.Module):
    """Fitted weights, all of them buffers; R counts the relations without NULL.

    As built it keeps the scores' log-odds against NULL, but for those below `rivals.LOWEST`, which it raises to that.

    Args:
        cues: buckets that cues are hashed into.
        features: F, the features of a pair.
        relations: R.
    """

    cue_weights: Tensor
    feature_weights: Tensor
    bias: Tensor
    mix: Tensor
    rival_weights: Tensor
    rival_bias: Tensor

    def __init__(self, *, cues: int, features: int, relations: int) -> None:
        super().__init__()
        self.register_buffer("cue_weights", torch.zeros(cues, relations))
        self.register_buffer("feature_weights", torch.zeros(features, relations))
        self.register_buffer("bias", torch.zeros(relations))
        self.register_buffer("mix", torch.tensor([0.0, 0.0, 1.0]))
        self.register_buffer("rival_weights", F.one_hot(torch.tensor(0), RIVALS).float())
        self.register_buffer("rival_bias", torch.zeros(()))

    def cue_scores(self, batch: Batch) -> Tensor:
        """[P, R], the log-odds that the linear model gives."""
        if not batch.pairs:
            return self.bias.new_zeros(0, len(self.bias))
        lexical = F.embedding_bag(batch.cues, self.cue_weights, batch.cue_starts, mode="sum")
        return lexical + batch.pair_features @ self.feature_weights + self.bias

    def mixed(self, scores: Tensor, batch: Batch) -> Tensor:
        """[P, 1 + R] scores of the network, NULL first -> [P, R] log-odds."""
        return self.mix[0] + self.mix[1] * self.cue_scores(batch) + self.mix[2] * log_odds(scores)

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        """[P, 1 + R] scores of the network, NULL first -> [P, 1 + R], NULL at 0."""
        mixed = self.mixed(scores, batch)
        rivals = rival_features(
            mixed, batch.allowed[:, 1:], batch.pair_tails, batch.pair_heads, batch.pair_documents
        )  # [P, R, RIVALS]
        final = rivals @ self.rival_weights + self.rival_bias
        return torch.cat([torch.zeros_like(final[:, :1]), final], dim=1)


def log_odds(scores: Tensor) -> Tensor:
    """[P, 1 + R], NULL first -> [P, R], each relation against NULL."""
    return scores[:, 1:] - scores[:, :1]
