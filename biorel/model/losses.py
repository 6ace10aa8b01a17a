"""The maximum-likelihood losses of relations, entity types and document triage (section 2.6)."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from biorel.model.batch import Batch
from biorel.model.bran import BranOutput


def relation_loss(scores: Tensor, labels: Tensor, *, positive_weight: float) -> Tensor:
    """-1/E sum_i log P(r_i | scores(p^head, p^tail)) (section 2.6), with a softmax over the relations and NULL.

    Where a pair has several relations, each of them is a separate example (section 3.3.1); they share the weight of
    the pair.

    Args:
        scores: [P, R], NULL in column 0.
        labels: [P, R] bool, with at least one True in a row.
        positive_weight: weight of a pair that has a relation; a pair without one weighs 1. The loss is the weighted
            mean.
    """
    if scores.shape[0] == 0:
        return scores.sum()
    log_probabilities = F.log_softmax(scores, dim=-1)
    # a relation that the argument types forbid has log probability -inf; masking it avoids 0 * -inf
    chosen = log_probabilities.masked_fill(~labels, 0.0).sum(-1) / labels.sum(-1)  # [P]
    weights = 1.0 + (positive_weight - 1.0) * (~labels[:, 0]).to(scores.dtype)
    return -(weights * chosen).sum() / weights.sum()


def ner_loss(scores: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
    """-1/N sum_i log P(y_i | b_i) over the real tokens (section 2.6): [B, T, C], [B, T], [B, T] -> scalar."""
    if scores.is_cuda:
        # only this one of the two CUDA kernels is deterministic
        losses = F.cross_entropy(scores.flatten(0, 1), labels.flatten(), reduction="none").view_as(labels)  # [B, T]
    else:
        losses = F.cross_entropy(scores.transpose(1, 2), labels, reduction="none")  # [B, T]
    return (losses * mask).sum() / mask.sum().clamp(min=1)  # 0 for a batch of empty texts


def triage_loss(scores: Tensor, labels: Tensor) -> Tensor:
    """Binary cross-entropy of whether a document states a relation: [B] log-odds and [B] bool -> scalar."""
    return F.binary_cross_entropy_with_logits(scores, labels.to(scores.dtype))


def task_loss(output: BranOutput, batch: Batch, *, positive_weight: float) -> Tensor:
    """The loss of the network's main task: triage where it scores documents, otherwise relations."""
    if output.document_scores is not None:
        return triage_loss(output.document_scores, batch.document_labels)
    return relation_loss(output.pair_scores, batch.labels, positive_weight=positive_weight)
