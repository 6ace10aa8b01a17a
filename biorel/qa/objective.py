"""A reader as work for the loop: batches of passages, the loss of its head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from biorel.qa.batches import collate, targets
from biorel.qa.network import Reader
from biorel.qa.passages import Passage
from biorel.training.batches import TextStep, text_steps


@dataclass(frozen=True)
class ReaderObjective:
    """The training passages and what becomes of them."""

    unit: ClassVar[str] = "questions"
    model: Reader
    passages: Sequence[Passage]
    token_budget: int
    seed: int
    device: torch.device

    def plans(self, epoch: int) -> list[TextStep]:
        """Every passage once."""
        lengths = [len(passage.token_ids) for passage in self.passages]
        return text_steps(lengths, token_budget=self.token_budget, seed=self.seed, epoch=epoch)

    def size(self, plan: TextStep) -> int:
        return len(plan.texts)

    def losses(self, plan: TextStep) -> tuple[Tensor, Mapping[str, float]]:
        """The loss of the reader's head; of several answers one is drawn to train towards."""
        chosen = [self.passages[place] for place in plan.texts]
        random = np.random.default_rng((self.seed, plan.epoch, plan.number, 2))
        aims = targets(chosen, null=self.model.head.null, random=random).to(self.device)
        loss = self.model.loss(collate(chosen).to(self.device), aims)
        return loss, {"loss": loss.item()}
