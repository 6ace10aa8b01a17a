"""evaluate: a model folder + one split of a dataset -> metrics, tables, curves; or predictions, see that stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.evaluate import Evaluate
from biorel.dataset.labels import read_labels
from biorel.errors import ConfigError, ModelError
from biorel.knowledge.support import Support
from biorel.model.device import pick_device
from biorel.progress import SILENT, Progress
from biorel.records import Example, Pair, Score
from biorel.scoring import predictions as evaluate_predictions
from biorel.scoring.curves import precision_recall
from biorel.scoring.distance import by_distance
from biorel.scoring.metrics import Metrics, evaluate, predict_every_pair
from biorel.scoring.ner import evaluate_spans
from biorel.scoring.pairs import ScoredPair
from biorel.scoring.plots import plot_curves, plot_distance
from biorel.scoring.tables import relation_table
from biorel.tables import read_table, write_table
from biorel.training.graph import (
    articles_of,
    in_words,
    injector_for,
    read_triples,
    refuse_shared,
    told_by_graph,
    with_knowledge,
)
from biorel.training.model_folder import open_model
from biorel.training.score_pairs import encoded_for, score, unscored
from biorel.training.tasks import evaluate_task

_SUPPORTS = (1, 2)  # other articles that a pair of the graph is asked for, in the rows that read no word


def run(config: Evaluate, progress: Progress = SILENT) -> Artifact:
    """Score the model, or the predictions, and write the folder `config.out`.

    The thresholds are the model's, tuned on dev; nothing is chosen here.

    Raises:
        BiorelError: the split is empty, or model and dataset have other labels.
    """
    if config.predictions is not None:
        report = evaluate_predictions.run(config)
        return Artifact(label="evaluation", path=config.out, summary=[report])
    if config.model is None or config.dataset is None:
        raise ConfigError("--model and --dataset go together", "see --help")
    device = pick_device(config.device)
    opened = open_model(config.model)
    labels = opened.schema.labels
    dataset_schema, _ = read_labels(config.dataset)
    if dataset_schema.labels != labels:
        raise ModelError(
            f"{config.model} knows the relations {', '.join(labels)}; "
            f"{config.dataset} holds {', '.join(dataset_schema.labels)}",
            "evaluate a model on the schema that it was trained on",
        )
    triples = read_triples(config.graph) if config.graph is not None else []
    if config.graph is not None:
        refuse_shared(triples, config.graph, articles_of(config.dataset, config.split), config.split)
    inject = injector_for(config.graph, triples, opened.model.config, opened.tokenizer)
    with artifacts.folder("evaluate", config.options(), config.out, force=config.force) as output:
        if opened.model.config.task != "relations":
            report = evaluate_task(config, opened, inject, output, device)
            return Artifact(label="evaluation", path=config.out, summary=[report])
        examples = encoded_for(opened.encoder, config.dataset, config.split, output.counts)
        opened.model.to(device)

        def scores(documents: Sequence[Example]) -> tuple[list[ScoredPair], list[list[int]]]:
            budget = config.batch_tokens
            return score(opened.model, documents, opened.collator, labels, token_budget=budget, device=device)

        scored, tags = scores(with_knowledge(examples, config.dataset, (config.split,), inject))
        if opened.model.config.branches:  # on the given mentions they would show where these are
            _, tags = scores(examples)
        pairs = read_table(config.dataset / config.split / "pairs.parquet", Pair)
        scored += unscored(pairs, scored, len(labels))
        filtered = evaluate(scored, labels, opened.thresholds, filtered=True)
        unfiltered = evaluate(scored, labels, opened.thresholds, filtered=False)
        baseline = predict_every_pair(scored, labels, filtered=True)
        ner = evaluate_spans((example.ner_tags for example in examples), tags, opened.ner_labels)
        protocol = {
            "split": config.split,
            "documents": len(examples),
            "entities": "gold (those of the dataset)",
            "hypernym_filter": "on; 'unfiltered' counts the filtered pairs as negatives",
            "thresholds": opened.tuned_on,
        }
        known: dict[str, Metrics] = {}
        if inject is not None and config.graph is not None:
            protocol["knowledge"] = in_words(inject, config.graph, triples)
            support = inject.support or Support(triples)
            for articles in _SUPPORTS:
                told = told_by_graph(scored, support, articles)
                name = f"every pair that the graph has from {articles} article{'s' * (articles > 1)} or more"
                known[name] = evaluate(told, labels, dict.fromkeys(labels, 0.5), filtered=True)
        elif opened.model.config.uses_graph:
            protocol["knowledge"] = "none, though the model was trained with some"
        artifacts.write_json(
            output.path / "metrics.json",
            {
                **filtered.to_json(),
                "ner": ner.to_json(),
                "unfiltered": unfiltered.to_json(),
                "every_pair": baseline.to_json(),
                **({"by_graph": {name: metrics.to_json() for name, metrics in known.items()}} if known else {}),
                "protocol": protocol,
            },
        )
        _write_tables(output.path, scored, labels, opened.thresholds, config.plots)
        report = _report(
            config, filtered, unfiltered, {"every pair predicted": baseline, **known}, ner.to_json(), protocol
        )
        (output.path / "report.md").write_text(report, encoding="utf-8")
        output.notes["device"] = str(device)
    return Artifact(label="evaluation", path=config.out, summary=[report])


def _write_tables(
    folder: Path, scored: Sequence[ScoredPair], labels: Sequence[str], thresholds: Any, plots: bool
) -> None:
    """Scores, the distance curve of Figure 2 and the precision-recall curves, as Parquet and PNG."""
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
