"""Relations as work for the loop: batches of documents with their pairs, the loss of the task and of entity types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from biorel.model.bran import Bran, BranOutput
from biorel.model.losses import ner_loss, task_loss
from biorel.records import Example
from biorel.training.batches import Plan, document_plans, pair_plans
from biorel.training.collate import Collator
from biorel.training.loop import Schedule


@dataclass(frozen=True, kw_only=True)
class TrainingArguments(Schedule):
    """How a network is trained; the fields are explained at `config.Train`."""

    sampling: str
    token_budget: int
    pairs_per_step: int
    steps_per_epoch: int
    positive_weight: float
    ner_weight: float
    task_weight: float = 1.0


@dataclass(frozen=True)
class RelationObjective:
    """The training documents and what becomes of them."""

    unit: ClassVar[str] = "documents"
    model: Bran
    examples: Sequence[Example]
    collate: Collator
    recipe: TrainingArguments
    device: torch.device

    def plans(self, epoch: int) -> list[Plan]:
        """The steps of one epoch."""
        recipe = self.recipe
        if recipe.sampling == "paper":
            plans = pair_plans(
                self.examples,
                pairs_per_step=recipe.pairs_per_step,
                steps=recipe.steps_per_epoch,
                seed=recipe.seed,
                epoch=epoch,
            )
        else:
            plans = document_plans(self.examples, token_budget=recipe.token_budget, seed=recipe.seed, epoch=epoch)
        return list(plans)

    def size(self, plan: Plan) -> int:
        return len(plan.documents)

    def losses(self, plan: Plan) -> tuple[Tensor, Mapping[str, float]]:
        """The weighted losses of the task and of entity types; both are told apart."""
        batch = self.collate(self.examples, plan).to(self.device)
        output: BranOutput = self.model(batch)
        recipe = self.recipe
        relations = recipe.task_weight * task_loss(output, batch, positive_weight=recipe.positive_weight)
        entities = ner_loss(output.ner_scores, batch.ner_labels, batch.token_mask)
        parts = {"loss": relations.item(), "ner_loss": entities.item()}
        return relations + recipe.ner_weight * entities, parts
