"""The training loop: a generator of reports. It draws no progress bar, writes no table, tunes no threshold itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from biorel.model.bran import Output
from biorel.model.losses import ner_loss, task_loss
from biorel.records import Example
from biorel.training.batches import Plan, document_plans, pair_plans
from biorel.training.checkpoint import TrainingState, save_state
from biorel.training.collate import Collator
from biorel.training.descent import descend
from biorel.training.optim import learning_rate


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a network is trained; the fields are explained at `config.Train`."""

    seed: int
    epochs: int
    patience: int
    sampling: str
    token_budget: int
    pairs_per_step: int
    steps_per_epoch: int
    learning_rate: float
    warmup: int
    final_rate: float
    clip: float
    gradient_noise: float
    positive_weight: float
    ner_weight: float
    task_weight: float = 1.0
    checkpoint_steps: int = 200


@dataclass(frozen=True)
class DevScore:
    """What the evaluation on dev says: the score to maximise, and the thresholds that gave it."""

    f1: float
    thresholds: dict[str, float]
    ner_f1: float


@dataclass(frozen=True)
class Report:
    """After a step, or (with `dev`) after an epoch: means over the epoch so far, documents per second of training."""

    epoch: int
    epoch_step: int
    steps: int
    loss: float
    ner_loss: float
    documents_per_second: float
    dev: DevScore | None = None
    best: bool = False


def epoch_plans(examples: Sequence[Example], recipe: Recipe, epoch: int) -> list[Plan]:
    """The steps of one epoch."""
    if recipe.sampling == "paper":
        return list(
            pair_plans(
                examples,
                pairs_per_step=recipe.pairs_per_step,
                steps=recipe.steps_per_epoch,
                seed=recipe.seed,
                epoch=epoch,
            )
        )
    return list(document_plans(examples, token_budget=recipe.token_budget, seed=recipe.seed, epoch=epoch))


def train(
    state: TrainingState,
    examples: Sequence[Example],
    collate: Collator,
    recipe: Recipe,
    evaluate: Callable[[], DevScore],
    folder: Path,
    key: str,
) -> Iterator[Report]:
    """Train from where `state` stands to the last epoch, or until dev stops improving.

    Args:
        state: changed in place; at the end it holds the best averaged weights.
        examples: the training documents.
        evaluate: scores the network as it stands, called with the averaged weights in place.
        folder, key: where the checkpoint goes, and the run that it belongs to.

    Raises:
        ModelError: the loss is no longer a number.
    """
    device = next(state.model.parameters()).device
    planned = len(epoch_plans(examples, recipe, 0)) * recipe.epochs
    while state.epoch < recipe.epochs and not _exhausted(state, recipe):
        plans = epoch_plans(examples, recipe, state.epoch)
        for plan in plans[state.epoch_step :]:
            began = time.perf_counter()
            state.model.train()
            losses = _step(state, collate, examples, plan, recipe, planned, device)
            _book(state, losses, len(plan.documents), time.perf_counter() - began)
            state.epoch_step += 1
            state.step += 1
            if state.step % recipe.checkpoint_steps == 0:
                save_state(state, folder, key)
            yield _report(state, len(plans))
        with state.average.applied_to(state.model):
            dev = evaluate()
        best = dev.f1 > state.best_score
        if best:
            state.best = {name: value.clone() for name, value in state.average.shadow.items()}
            state.best_score, state.best_epoch = dev.f1, state.epoch + 1
            state.best_thresholds = dev.thresholds
        report = _report(state, len(plans), dev, best)
        state.history.append(
            {
                "epoch": state.epoch + 1,
                "loss": report.loss,
                "ner_loss": report.ner_loss,
                "dev_f1": dev.f1,
                "dev_ner_f1": dev.ner_f1,
                "documents_per_second": report.documents_per_second,
                "seconds": state.sums["seconds"],
            }
        )
        state.epoch, state.epoch_step, state.sums = state.epoch + 1, 0, {}
        save_state(state, folder, key)
        yield report


def _exhausted(state: TrainingState, recipe: Recipe) -> bool:
    return bool(recipe.patience) and state.epoch - state.best_epoch >= recipe.patience


def _step(
    state: TrainingState,
    collate: Collator,
    examples: Sequence[Example],
    plan: Plan,
    recipe: Recipe,
    planned: int,
    device: torch.device,
) -> tuple[float, float]:
    """One update; returns the relation loss and the entity-type loss."""
    rate = learning_rate(
        state.step, peak=recipe.learning_rate, warmup=recipe.warmup, total=planned, floor=recipe.final_rate
    )
    batch = collate(examples, plan).to(device)
    output: Output = state.model(batch)
    relations = recipe.task_weight * task_loss(output, batch, positive_weight=recipe.positive_weight)
    entities = ner_loss(output.ner, batch.ner_labels, batch.token_mask)
    loss = relations + recipe.ner_weight * entities
    descend(state, loss, rate=rate, clip=recipe.clip, noise=recipe.gradient_noise)
    return relations.item(), entities.item()


def _book(state: TrainingState, losses: tuple[float, float], documents: int, seconds: float) -> None:
    for name, value in zip(
        ("loss", "ner_loss", "steps", "documents", "seconds"), (*losses, 1, documents, seconds), strict=True
    ):
        state.sums[name] = state.sums.get(name, 0.0) + value


def _report(state: TrainingState, steps: int, dev: DevScore | None = None, best: bool = False) -> Report:
    count = max(1.0, state.sums.get("steps", 0.0))
    return Report(
        epoch=state.epoch + 1,
        epoch_step=state.epoch_step,
        steps=steps,
        loss=state.sums.get("loss", 0.0) / count,
        ner_loss=state.sums.get("ner_loss", 0.0) / count,
        documents_per_second=state.sums.get("documents", 0.0) / max(1e-9, state.sums.get("seconds", 0.0)),
        dev=dev,
        best=best,
    )
