"""The tasks beside relations: triage (does an abstract hold one?) and entity spans alone; no entities are given."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from sklearn.metrics import average_precision_score

from biorel import artifacts
from biorel.artifacts import OutputFolder
from biorel.config.evaluate import Evaluate
from biorel.dataset.relation_schema import RelationSchema
from biorel.errors import InputError
from biorel.knowledge.inject import Injector
from biorel.model.ensemble import Network
from biorel.progress import DevScore
from biorel.records import Example
from biorel.scoring.ner import NerMetrics, evaluate_spans
from biorel.training.collate import Collator
from biorel.training.graph import with_knowledge
from biorel.training.inference import predict
from biorel.training.model_folder import ModelFolder
from biorel.training.score_pairs import encoded_for

MEASURES = {"relations": "micro F1", "triage": "average precision", "ner": "entity F1"}
_NEVER = 1.0  # the threshold of every relation: such a network tells none


def check_task(task: str, training: Sequence[Example], dev: Sequence[Example], dataset: Path) -> None:
    """Stop where a split cannot be judged by: relations ask for a positive pair in dev, triage for both kinds in each.

    Raises:
        InputError: naming the split.
    """
    if task == "relations" and not any(labels for example in dev for labels in example.pair_labels):
        raise InputError(f"{dataset}: the dev documents hold no positive pair", "thresholds are tuned on them")
    for split, examples in (("train", training), ("dev", dev)) if task == "triage" else ():
        worth = sum(any(example.pair_labels) for example in examples)
        if worth in (0, len(examples)):
            raise InputError(
                f"{dataset}: {worth} of the {len(examples)} {split} documents hold a relation: nothing to tell apart",
                "build the dataset with --keep-empty, from documents with and without relations",
            )


def score_task(
    model: Network,
    examples: Sequence[Example],
    collate: Collator,
    schema: RelationSchema,
    ner: Sequence[str],
    *,
    token_budget: int,
    device: torch.device,
) -> DevScore:
    """The measure of the network's task on these documents, in place of an F1."""
    worth, entities = _read(model, examples, collate, ner, token_budget=token_budget, device=device)
    found = entities.overall.f1 or 0.0
    measure = _average_precision(examples, worth) if model.config.task == "triage" else found
    return DevScore(measure, {"f1": measure, "ner_f1": found}, dict.fromkeys(schema.labels, _NEVER))


def evaluate_task(
    config: Evaluate, opened: ModelFolder, inject: Injector | None, output: OutputFolder, device: torch.device
) -> str:
    """Score a model of another task on a split; writes metrics.json and report.md, returns the report.

    Raises:
        InputError: the dataset is incomplete, or for triage has documents of one kind only.
    """
    if config.dataset is None:
        raise InputError("no dataset to evaluate on", "--model and --dataset go together")
    bare = encoded_for(opened.encoder, config.dataset, config.split, output.counts)
    examples = with_knowledge(bare, config.dataset, (config.split,), inject)
    opened.model.to(device)
    worth, entities = _read(
        opened.model, examples, opened.collator, opened.ner_labels, token_budget=config.batch_tokens, device=device
    )
    task = opened.model.config.task
    metrics: dict[str, Any] = {"task": task, "split": config.split, "documents": len(examples)}
    metrics["ner"] = entities.to_json()
    lines = [f"# {config.model} on {config.split} of {config.dataset}: {task}", "", "| measure | value |", "|---|---|"]
    if task == "triage":
        check_task(task, examples, examples, config.dataset)
        share = sum(any(example.pair_labels) for example in examples) / len(examples)
        metrics |= {"average_precision": _average_precision(examples, worth), "share_of_positives": share}
        metrics["scores"] = {example.doc_id: score for example, score in zip(examples, worth, strict=True)}
        lines.append(f"| average precision | {100 * metrics['average_precision']:.1f} |")
        lines.append(f"| of a list in any order (share of positives) | {100 * share:.1f} |")
    lines.append(f"| entity F1, strict spans | {100 * (entities.overall.f1 or 0.0):.1f} |")
    report = "\n".join(lines) + "\n"
    artifacts.write_json(output.path / "metrics.json", metrics)
    (output.path / "report.md").write_text(report, encoding="utf-8")
    output.notes["device"] = str(device)
    return report


def _read(
    model: Network,
    examples: Sequence[Example],
    collate: Collator,
    ner: Sequence[str],
    *,
    token_budget: int,
    device: torch.device,
) -> tuple[list[float], NerMetrics]:
    """The triage score of each document (0 of a network without), and the entity spans of all."""
    worth = [0.0] * len(examples)
    tags: list[list[int]] = [[] for _ in examples]
    for prediction in predict(model, examples, collate, token_budget=token_budget, device=device):
        worth[prediction.index] = prediction.document_score or 0.0
        tags[prediction.index] = prediction.tags.tolist()
    return worth, evaluate_spans((example.ner_tags for example in examples), tags, ner)


def _average_precision(examples: Sequence[Example], worth: Sequence[float]) -> float:
    return float(average_precision_score([any(example.pair_labels) for example in examples], worth))
