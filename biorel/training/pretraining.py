"""Masked pre-training as work for the loop: batches of texts, the loss of the tokens that are hidden in them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from biorel.model.masked import MaskedLanguageModel
from biorel.progress import DevScore
from biorel.training.batches import TextStep, ordered_batches, text_steps
from biorel.training.loop import Schedule
from biorel.training.masking import Ids, MaskedBatch, collate_masked, mask_text

# what is drawn from (seed, epoch, step, _TRAIN) and (seed, number, _DEV) is drawn for nothing else
_TRAIN, _DEV = 2, 3


@dataclass(frozen=True, kw_only=True)
class MaskedRecipe(Schedule):
    """How an encoder is pre-trained; the fields are explained at `config.Pretrain`."""

    mask_share: float
    token_budget: int
    eval_tokens: int


@dataclass(frozen=True)
class MaskedObjective:
    """The training texts, token ids of each with at least one that is known, and what becomes of them."""

    unit: ClassVar[str] = "tokens"
    model: MaskedLanguageModel
    texts: Sequence[Ids]
    recipe: MaskedRecipe
    vocabulary: int
    device: torch.device

    def plans(self, epoch: int) -> list[TextStep]:
        """Every text once."""
        lengths = [len(text) for text in self.texts]
        return text_steps(lengths, token_budget=self.recipe.token_budget, seed=self.recipe.seed, epoch=epoch)

    def size(self, plan: TextStep) -> int:
        return sum(len(self.texts[index]) for index in plan.texts)

    def losses(self, plan: TextStep) -> tuple[Tensor, Mapping[str, float]]:
        """Cross-entropy of the hidden tokens."""
        random = np.random.default_rng((self.recipe.seed, plan.epoch, plan.number, _TRAIN))
        share = self.recipe.mask_share
        masked = [
            mask_text(self.texts[index], share=share, vocabulary=self.vocabulary, random=random) for index in plan.texts
        ]
        batch = collate_masked(masked).to(self.device)
        loss = F.cross_entropy(self.model(batch.token_ids, batch.mask, batch.places), batch.targets)
        return loss, {"loss": loss.item()}


@torch.no_grad()
def dev_perplexity(model: MaskedLanguageModel, batches: Sequence[MaskedBatch], device: torch.device) -> DevScore:
    """exp of the mean negative log probability of the hidden tokens, over all batches; less is better."""
    model.eval()
    total, count = 0.0, 0
    for batch in (batch.to(device) for batch in batches):
        scores = model(batch.token_ids, batch.mask, batch.places)
        total += F.cross_entropy(scores, batch.targets, reduction="sum").item()
        count += len(batch.targets)
    perplexity = math.exp(min(total / count, 700.0))  # the largest double is about exp(709)
    return DevScore(1 / perplexity, {"perplexity": perplexity})


def dev_batches(dev: Sequence[Ids], recipe: MaskedRecipe, vocabulary: int) -> list[MaskedBatch]:
    """The same tokens are hidden after every epoch, whatever the batches."""
    masked = [
        mask_text(
            text,
            share=recipe.mask_share,
            vocabulary=vocabulary,
            random=np.random.default_rng((recipe.seed, number, _DEV)),
        )
        for number, text in enumerate(dev)
    ]
    batches = ordered_batches([len(text) for text in dev], token_budget=recipe.eval_tokens)
    return [collate_masked([masked[index] for index in batch]) for batch in batches]
