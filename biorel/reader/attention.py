"""Additive attention that pools a sequence into one vector: equations 4 and 5 of DGCNN."""

from __future__ import annotations

from torch import Tensor, nn


class AdditiveScore(nn.Module):
    """a . tanh(W x + b) + c of every token: what pools a sequence, labels its tokens, and scores them as starts."""

    def __init__(self, *, width: int, inner: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(width, inner)
        self.score = nn.Linear(inner, 1)

    def forward(self, tokens: Tensor) -> Tensor:
        """[..., D] -> [...]."""
        scores: Tensor = self.score(self.hidden(tokens).tanh())
        return scores.squeeze(-1)


class AttentivePooling(nn.Module):
    """x = sum l_i x_i with l = softmax of the additive scores over the real tokens."""

    def __init__(self, *, width: int) -> None:
        super().__init__()
        self.scores = AdditiveScore(width=width, inner=width)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """[B, T, D] and [B, T], a real token at least in each row -> [B, D]."""
        weights = self.scores(tokens).masked_fill(~mask, float("-inf")).softmax(-1)  # [B, T]
        pooled: Tensor = (weights[:, None, :] @ tokens).squeeze(1)
        return pooled
