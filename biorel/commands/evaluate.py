"""evaluate: a model and one split of a dataset, or predictions and a gold corpus -> metrics and a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from biorel import artifacts
from biorel.artifacts import Artifact, OutputFolder
from biorel.config.evaluate import Evaluate
from biorel.dataset.labels import read_labels
from biorel.dataset.relation_schema import named_schema
from biorel.dataset.splits import articles_of
from biorel.errors import ConfigError, ModelError
from biorel.knowledge.inject import Injector
from biorel.knowledge.support import Support
from biorel.knowledge.triples import read_triples, refuse_shared
from biorel.model.device import pick_device
from biorel.progress import SILENT, Progress
from biorel.records import Pair, Score, Triple
from biorel.scoring.curves import precision_recall
from biorel.scoring.distance import by_distance
from biorel.scoring.metrics import Metrics, evaluate, predict_every_pair
from biorel.scoring.ner import evaluate_spans
from biorel.scoring.pairs import ScoredPair
from biorel.scoring.plots import plot_curves, plot_distance
from biorel.scoring.predictions import predictions_report, score_predictions
from biorel.scoring.tables import relation_table
from biorel.tables import read_table, write_table
from biorel.training.evaluation import (
    average_precision,
    check_triage,
    score_documents,
    score_examples,
    states_relation,
    unscored_pairs,
)
from biorel.training.examples import inject_knowledge, read_encoded_examples
from biorel.training.graph import build_injector, describe_graph, score_by_graph
from biorel.training.model_folder import ModelFolder, open_model

_MIN_ARTICLES = (1, 2)  # articles that must state a pair, for the baselines that predict by the graph alone


def run(config: Evaluate, progress: Progress = SILENT) -> Artifact:
    """Score the model or the predictions, and write the folder `config.out`.

    The thresholds were tuned on dev in training and are saved with the model. Nothing is tuned here.

    Raises:
        BiorelError: the split is empty, or the labels of the model and of the dataset differ.
    """
    if config.predictions is not None:
        return _evaluate_predictions(config, config.predictions)
    if config.model is None or config.dataset is None:
        raise ConfigError("--model needs --dataset, and --dataset needs --model", "give both options")
    device = pick_device(config.device)
    opened = open_model(config.model)
    dataset_schema, _ = read_labels(config.dataset)
    if dataset_schema.labels != opened.schema.labels:
        raise ModelError(
            f"{config.model} knows the relations {', '.join(opened.schema.labels)}; "
            f"{config.dataset} holds {', '.join(dataset_schema.labels)}",
            "evaluate a model on a dataset with the relations that the model was trained on",
        )
    triples: list[Triple] = []
    injector = None
    if config.graph is not None:
        triples = read_triples(config.graph)
        refuse_shared(triples, config.graph, articles_of(config.dataset, config.split), config.split)
        injector = build_injector(config.graph, triples, opened.model.config, opened.tokenizer)
    with artifacts.folder("evaluate", config.options(), config.out, force=config.force) as output:
        opened.model.to(device)
        if opened.model.config.task == "relations":
            metrics, report = _relations(config, config.dataset, opened, triples, injector, output, device)
        else:
            metrics, report = _documents(config, config.dataset, opened, injector, output, device)
        artifacts.write_json(output.path / "metrics.json", metrics)
        (output.path / "report.md").write_text(report, encoding="utf-8")
        output.notes["device"] = str(device)
    return Artifact(label="evaluation", path=config.out, summary=[report])


def _relations(
    config: Evaluate,
    dataset: Path,
    opened: ModelFolder,
    triples: Sequence[Triple],
    injector: Injector | None,
    output: OutputFolder,
    device: torch.device,
) -> tuple[dict[str, Any], str]:
    """Evaluate a relation model and write the tables; returns the metrics and the report."""
    labels, budget = opened.schema.labels, config.batch_tokens
    examples = read_encoded_examples(opened.encoder, dataset, config.split, output.counts)
    with_knowledge = inject_knowledge(examples, dataset, (config.split,), injector)
    found = score_examples(opened, with_knowledge, token_budget=budget, device=device)
    tags = found.tags
    if opened.model.config.branches:  # the MeSH branches of the gold mentions would show where the gold mentions are
        tags = score_examples(opened, examples, token_budget=budget, device=device).tags
    pairs = read_table(dataset / config.split / "pairs.parquet", Pair)
    scored = [*found.pairs, *unscored_pairs(pairs, found.pairs, len(labels))]
    filtered = evaluate(scored, labels, opened.thresholds, filtered=True)
    unfiltered = evaluate(scored, labels, opened.thresholds, filtered=False)
    every_pair = predict_every_pair(scored, labels, filtered=True)
    ner = evaluate_spans((example.ner_tags for example in examples), tags, opened.ner_labels)
    protocol = {
        "split": config.split,
        "documents": len(examples),
        "entities": "gold (those of the dataset)",
        "hypernym_filter": "on; 'unfiltered' counts the filtered pairs as negatives",
        "thresholds": opened.tuned_on,
    }
    by_graph: dict[str, Metrics] = {}
    if injector is not None and config.graph is not None:
        protocol["knowledge"] = describe_graph(config.graph, triples, injector.limit)
        support = injector.support or Support(triples)
        for articles in _MIN_ARTICLES:
            name = f"every pair that the graph has from {articles} article{'s' * (articles > 1)} or more"
            baseline = score_by_graph(scored, support, articles)
            by_graph[name] = evaluate(baseline, labels, dict.fromkeys(labels, 0.5), filtered=True)
    elif opened.model.config.uses_graph:
        protocol["knowledge"] = "none, though the model was trained with a graph"
    metrics = {
        **filtered.to_json(),
        "ner": ner.to_json(),
        "unfiltered": unfiltered.to_json(),
        "every_pair": every_pair.to_json(),
        **({"by_graph": {name: row.to_json() for name, row in by_graph.items()}} if by_graph else {}),
        "protocol": protocol,
    }
    _write_tables(output.path, scored, labels, opened.thresholds, config.plots)
    baselines = {"every pair predicted": every_pair, **by_graph}
    return metrics, _report(config, filtered, unfiltered, baselines, ner.to_json(), protocol)


def _documents(
    config: Evaluate,
    dataset: Path,
    opened: ModelFolder,
    injector: Injector | None,
    output: OutputFolder,
    device: torch.device,
) -> tuple[dict[str, Any], str]:
    """Evaluate a model for triage or entity spans; returns the metrics and the report."""
    encoded = read_encoded_examples(opened.encoder, dataset, config.split, output.counts)
    examples = inject_knowledge(encoded, dataset, (config.split,), injector)
    scored = score_documents(opened, examples, token_budget=config.batch_tokens, device=device)
    task = opened.model.config.task
    metrics: dict[str, Any] = {"task": task, "split": config.split, "documents": len(examples)}
    metrics["ner"] = scored.ner.to_json()
    lines = [f"# {config.model} on {config.split} of {dataset}: {task}", "", "| measure | value |", "|---|---|"]
    if task == "triage":
        check_triage(config.split, examples, dataset)
        share = sum(map(states_relation, examples)) / len(examples)
        metrics |= {
            "average_precision": average_precision(examples, scored.scores),
            "share_of_positives": share,
            "scores": {example.doc_id: score for example, score in zip(examples, scored.scores, strict=True)},
        }
        lines.append(f"| average precision | {100 * metrics['average_precision']:.1f} |")
        lines.append(f"| average precision of a random order (share of positives) | {100 * share:.1f} |")
    lines.append(f"| entity F1, strict spans | {100 * (scored.ner.overall.f1 or 0.0):.1f} |")
    return metrics, "\n".join(lines) + "\n"


def _evaluate_predictions(config: Evaluate, predictions: Path) -> Artifact:
    """Score a file of predictions and write its metrics and report."""
    with artifacts.folder("evaluate", config.options(), config.out, force=config.force) as output:
        schema = named_schema(config.relation_schema)
        metrics = score_predictions(predictions, config.gold, schema, config.mesh, output.counts)
        report = predictions_report(metrics)
        artifacts.write_json(output.path / "metrics.json", metrics)
        (output.path / "report.md").write_text(report, encoding="utf-8")
    return Artifact(label="evaluation", path=config.out, summary=[report])


def _write_tables(
    folder: Path, scored: Sequence[ScoredPair], labels: Sequence[str], thresholds: Any, plots: bool
) -> None:
    """Write the scores, the distance curve of figure 2 and the precision-recall curves, as Parquet and PNG."""
    write_table(
        folder / "scores.parquet",
        Score,
        (
            Score(one.pair.doc_id, one.pair.head_id, one.pair.tail_id, label, probability)
            for one in scored
            if one.is_scored
            for label, probability in zip(labels, one.probabilities, strict=True)
        ),
    )
    distance = by_distance(scored, labels, thresholds)
    points = precision_recall(scored, labels)
    pd.DataFrame([asdict(row) for row in distance]).to_parquet(folder / "distance.parquet", index=False)
    pd.DataFrame([asdict(row) for row in points]).to_parquet(folder / "curves.parquet", index=False)
    if plots:
        plot_distance(distance, folder / "distance.png")
        plot_curves(points, folder / "curves.png")


def _report(
    config: Evaluate,
    filtered: Metrics,
    unfiltered: Metrics,
    baselines: Mapping[str, Metrics],
    ner: dict[str, Any],
    protocol: dict[str, Any],
) -> str:
    lines = [
        f"# {config.model} on {config.split} of {config.dataset}",
        "",
        *(f"- {name.replace('_', ' ')}: {value}" for name, value in protocol.items()),
        "",
        relation_table(filtered),
        "",
        "| score | P | R | F1 |",
        "|---|---|---|---|",
    ]
    rows = {
        "micro, hypernym filter on": filtered.to_json()["micro"],
        "micro, hypernym filter off": unfiltered.to_json()["micro"],
        **{f"{name}, filter on": metrics.to_json()["micro"] for name, metrics in baselines.items()},
        "entity types (strict spans)": ner["overall"],
        **{f"- {type_}": row for type_, row in ner["by_type"].items()},
    }
    for name, row in rows.items():
        numbers = (row["precision"], row["recall"], row["f1"])
        lines.append(
            f"| {name} | " + " | ".join("-" if value is None else f"{100 * value:.1f}" for value in numbers) + " |"
        )
    return "\n".join(lines) + "\n"
