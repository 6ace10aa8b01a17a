"""Train a relation network (section 2.6) on batches of documents with their pairs, with both losses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor

from biorel.model.bran import Bran
from biorel.model.losses import ner_loss, task_loss
from biorel.progress import DevScore, Progress, Report
from biorel.records import Example
from biorel.scoring.thresholds import RULES, tune
from biorel.training.batches import Plan, document_plans, pair_plans
from biorel.training.checkpoint import FOLDER, TrainingState, discard_state, resume_state
from biorel.training.collate import Collator
from biorel.training.evaluation import MEASURES, evaluate_dev
from biorel.training.events import event_file
from biorel.training.loop import Schedule, speed_metrics, train
from biorel.training.model_folder import ModelFolder
from biorel.training.optim import WeightAverage, build_optimizer
from biorel.training.rerank import fit_mix, fit_reranker


@dataclass(frozen=True, kw_only=True)
class TrainingArguments(Schedule):
    """How to train a relation network.

    Attributes:
        beta1, beta2, epsilon: of Adam.
        weight_decay: decoupled; 0 for none.
        ema: decay of the running average of the weights.
        sampling: `documents` (all pairs of a batch of documents) or `paper` (minibatches of pairs, appendix A).
        token_budget: padded tokens of a batch of documents.
        pairs_per_step, steps_per_epoch: with `paper`, the pairs of a minibatch and the minibatches of an epoch.
        positive_weight: see `losses.relation_loss`.
        ner_weight: lambda of section 2.6; 0 for 'no NER'.
        task_weight: weight of the loss of relations or triage; 0 for a network that only tags.
        eval_tokens: padded tokens of a batch in evaluation.
        thresholds: the rule in `scoring.thresholds.RULES` for the final thresholds.
    """

    beta1: float
    beta2: float
    epsilon: float
    weight_decay: float
    ema: float
    sampling: str
    token_budget: int
    pairs_per_step: int
    steps_per_epoch: int
    positive_weight: float
    ner_weight: float
    task_weight: float
    eval_tokens: int
    thresholds: str


@dataclass(frozen=True)
class TrainingData:
    """The examples of a training.

    Attributes:
        training, dev: with knowledge branches, where the network reads them.
        tagged_dev: the dev examples without knowledge branches.
    """

    training: Sequence[Example]
    dev: Sequence[Example]
    tagged_dev: Sequence[Example]


@dataclass(frozen=True)
class TrainedModel:
    """A trained network with its tuned thresholds, metrics.json, and one history row for each epoch."""

    opened: ModelFolder
    metrics: dict[str, Any]
    history: list[dict[str, float]]


@dataclass(frozen=True)
class RelationObjective:
    """The `training.loop.Objective` of a relation network."""

    unit: ClassVar[str] = "documents"
    model: Bran
    examples: Sequence[Example]
    collate: Collator
    arguments: TrainingArguments
    device: torch.device

    def plans(self, epoch: int) -> list[Plan]:
        """The steps of one epoch."""
        arguments = self.arguments
        if arguments.sampling == "paper":
            plans = pair_plans(
                self.examples,
                pairs_per_step=arguments.pairs_per_step,
                steps=arguments.steps_per_epoch,
                seed=arguments.seed,
                epoch=epoch,
            )
        else:
            plans = document_plans(self.examples, token_budget=arguments.token_budget, seed=arguments.seed, epoch=epoch)
        return list(plans)

    def size(self, plan: Plan) -> int:
        return len(plan.documents)

    def losses(self, plan: Plan) -> tuple[Tensor, Mapping[str, float]]:
        """The weighted sum of the losses of the task and of entity types (section 2.6), and each without its weight."""
        batch = self.collate(self.examples, plan).to(self.device)
        output = self.model(batch)
        arguments = self.arguments
        relations = arguments.task_weight * task_loss(output, batch, positive_weight=arguments.positive_weight)
        entities = ner_loss(output.ner_scores, batch.ner_labels, batch.token_mask)
        parts = {"loss": relations.item(), "ner_loss": entities.item()}
        return relations + arguments.ner_weight * entities, parts


def train_relations(
    opened: ModelFolder,
    data: TrainingData,
    arguments: TrainingArguments,
    share: Callable[[str], float],
    *,
    folder: Path,
    key: str,
    force: bool,
    progress: Progress,
    device: torch.device,
) -> tuple[TrainedModel, bool]:
    """Train a network to its best weights on dev, fit its reranker, and tune its thresholds.

    The random generator must have been seeded before the network was built.

    Args:
        opened: the network to train, which is changed, with its tokenizer and labels.
        share: maps a parameter's name to its share of the learning rate.
        folder: the output folder, for the checkpoint and the event file.
        key: identifies the run that the checkpoint belongs to.
        force: discard a checkpoint of another run.
        progress: shows the training.

    Returns:
        The trained model, and whether the training resumed from a checkpoint.

    Raises:
        ModelError: the checkpoint belongs to another run, or the loss is infinite or not a number.
    """
    model = opened.model
    if not isinstance(model, Bran):
        raise TypeError("an ensemble cannot be trained")
    model.to(device)
    optimizer = build_optimizer(
        model,
        rate=arguments.learning_rate,
        betas=(arguments.beta1, arguments.beta2),
        epsilon=arguments.epsilon,
        weight_decay=arguments.weight_decay,
        share=share,
    )
    state = TrainingState(model, optimizer, WeightAverage(model, arguments.ema))
    checkpoint = folder / FOLDER
    resumed = resume_state(state, checkpoint, key, force=force)

    def evaluate(rule: str = "") -> DevScore:
        return evaluate_dev(
            opened,
            data.dev,
            data.tagged_dev,
            RULES[rule] if rule else tune,
            token_budget=arguments.eval_tokens,
            device=device,
        )

    objective = RelationObjective(model, data.training, opened.collator, arguments, device)
    with event_file(folder / "events", state.epoch + 1) as write_values:
        steps = train(state, objective, arguments, evaluate, checkpoint, key)
        for report in progress.training(steps, epochs=arguments.epochs, unit="docs"):
            if report.dev is not None:
                write_values(report.epoch, _event_values(report, report.dev))

    model.load_state_dict(state.best, strict=False)
    # the reranker is fitted after the epoch is chosen, as a good reranker hides the differences between epochs
    if model.reranker is not None:
        fit_reranker(model.reranker, data.training, opened.collator, seed=arguments.seed)
        fit_mix(model, data.dev, opened.collator, token_budget=arguments.eval_tokens)
    final = evaluate(arguments.thresholds)
    trained = ModelFolder(model, opened.tokenizer, opened.schema, opened.ner_labels, final.thresholds)
    metrics = {
        "measure": MEASURES[model.config.task],
        "dev_f1": final.score,
        "dev_f1_without_reranker": state.best_score,
        "best_epoch": state.best_epoch,
        "epochs": state.epoch,
        "documents": {"train": len(data.training), "dev": len(data.dev)},
        "seed": arguments.seed,
        "device": str(device),
        **speed_metrics(state.history, RelationObjective.unit),
    }
    discard_state(checkpoint)
    return TrainedModel(trained, metrics, state.history), resumed


def _event_values(report: Report, dev: DevScore) -> dict[str, float]:
    """The values of an epoch for TensorBoard."""
    return {
        "loss/relations": report.losses["loss"],
        "loss/ner": report.losses["ner_loss"],
        "dev/f1": dev.score,
        "dev/ner_f1": dev.measures["ner_f1"],
        "speed/documents_per_second": report.speed,
    }
