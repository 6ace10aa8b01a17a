"""Maximum likelihood for relations and entity types (section 2.6)."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from biorel.model.batch import Batch
from biorel.model.bran import Output


def relation_loss(scores: Tensor, labels: Tensor, *, positive_weight: float) -> Tensor:
    """-1/E sum log P(r | scores), a softmax over the relations and NULL.

    A pair with several relations is a separate example of each (section 3.3.1); here these share the pair's
    weight. `positive_weight` multiplies pairs that hold a relation; the mean is over the weights.

    Args:
        scores: [P, R], NULL first.
        labels: [P, R] bool, at least one True in a row.
    """
    if scores.shape[0] == 0:
        return scores.sum()
    log_probabilities = F.log_softmax(scores, dim=-1)
    # a relation that the pair's types forbid has probability 0; it is no label, and 0 * -inf is kept out
    chosen = log_probabilities.masked_fill(~labels, 0.0).sum(-1) / labels.sum(-1)  # [P]
    weights = 1.0 + (positive_weight - 1.0) * (~labels[:, 0]).to(scores.dtype)
    return -(weights * chosen).sum() / weights.sum()


def triage_loss(scores: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy of documents that hold a relation or none: [B] log-odds and [B] bool -> scalar."""
    return F.binary_cross_entropy_with_logits(scores, labels.to(scores.dtype))


def task_loss(output: Output, batch: Batch, *, positive_weight: float) -> Tensor:
    """The loss of the task that a network is for, beside that of its entity types.

    Triage where the network has a score for documents, else relations.
    """
    if output.documents is not None:
        return triage_loss(output.documents, batch.document_labels)
    return relation_loss(output.pairs, batch.labels, positive_weight=positive_weight)


def ner_loss(scores: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
    """-1/N sum log P(y_i | b_i) over the real tokens: [B, T, C], [B, T], [B, T] -> scalar."""
    if scores.is_cuda:
        # of the two kernels this one repeats bit for bit
        losses = F.cross_entropy(scores.flatten(0, 1), labels.flatten(), reduction="none").view_as(labels)  # [B, T]
    else:
        losses = F.cross_entropy(scores.transpose(1, 2), labels, reduction="none")  # [B, T]
    return (losses * mask).sum() / mask.sum().clamp(min=1)  # 0 for a batch of empty texts
