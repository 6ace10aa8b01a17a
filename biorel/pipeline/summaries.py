"""Summaries of repeated pipelines: the evaluations of all seeds or folds in one table, as JSON and Markdown."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from biorel.artifacts import write_json
from biorel.errors import InputError
from biorel.pipeline.repeats import Repeats, Stage
from biorel.scoring.repeats import Spread, spread, summed
from biorel.scoring.tables import UNDEFINED, markdown_table, percents, relation_table

# name in seeds.json -> label in the table, factor, decimals
_MEASURES = {
    "precision": ("P", 100, 1),
    "recall": ("R", 100, 1),
    "f1": ("F1", 100, 1),
    "f1_unfiltered": ("F1, hypernym filter off", 100, 1),
    "exact_match": ("exact match of answerable questions", 100, 1),
    "macro_f1": ("macro F1 of answerable questions", 100, 1),
    "located_f1": ("F1 with 'no answer' as an option", 100, 1),
    "answered_f1": ("answer or no answer, F1", 100, 1),
    "tail_f1": ("F1 of entities, questions for tails", 100, 1),
    "head_f1": ("F1 of entities, questions for heads", 100, 1),
    "mrr_smoothed": ("reciprocal rank over several abstracts, vote smoothed", 100, 1),
    "mrr_max": ("the same, vote max", 100, 1),
    "mrr_sum": ("the same, vote sum", 100, 1),
    "questions_per_second": ("questions x abstracts a second", 1, 1),
    "dev_f1": ("dev F1 of the model", 100, 1),
    "training_seconds": ("seconds of training", 1, 0),
    "documents_per_second": ("documents a second in training", 1, 1),
}


def write(out: Path, repeats: Repeats, stages: Sequence[Stage]) -> str:
    """Write `out/seeds.json` and `seeds.md`, or `folds.json` and `folds.md`; returns the Markdown.

    Raises:
        InputError: the metrics of an evaluation cannot be read.
    """
    evaluations: dict[str, list[Stage]] = {}
    for stage in stages:
        if stage.command in ("evaluate", "evaluate-reader"):
            evaluations.setdefault(stage.name, []).append(stage)
    content, text = (_over_folds if repeats.word == "fold" else _over_seeds)(repeats, evaluations)
    write_json(out / f"{repeats.word}s.json", content)
    (out / f"{repeats.word}s.md").write_text(text, encoding="utf-8")
    return text


def _over_seeds(repeats: Repeats, evaluations: Mapping[str, Sequence[Stage]]) -> tuple[dict[str, Any], str]:
    """Mean and deviation of every measure of every evaluation.

    An evaluation that runs once for all seeds, such as that of an ensemble, has no deviation.
    """
    parts, stages = [f"# Seeds {repeats.values[0]} to {repeats.values[-1]}"], {}
    for name, copies in evaluations.items():
        rows = [_measures(stage) for stage in copies]
        spreads = {measure: spread(row.get(measure) for row in rows) for measure in _MEASURES}
        spreads = {measure: one for measure, one in spreads.items() if one.mean is not None}
        seeds = [stage.value for stage in copies if stage.value is not None]
        stages[name] = {"seeds": seeds, "measures": {measure: asdict(one) for measure, one in spreads.items()}}
        parts.append(f"## {name}\n\n{_spread_table(seeds, spreads)}" if seeds else _single(name, spreads))
    return {"seeds": list(repeats.values), "stages": stages}, "\n\n".join(part.rstrip() for part in parts) + "\n"


def _measures(stage: Stage) -> dict[str, float | None]:
    """The measures of an evaluation and of the training of its model."""
    metrics = _json(stage.out / "metrics.json")
    model = stage.values.get("model")
    trained = _training_measures(Path(model)) if model is not None else {}
    if stage.command == "evaluate-reader":
        return _reader_measures(metrics) | trained
    values = {name: metrics.get("micro", {}).get(name) for name in ("precision", "recall", "f1")}
    values["f1_unfiltered"] = metrics.get("unfiltered", {}).get("micro", {}).get("f1")
    return values | trained


def _reader_measures(metrics: Mapping[str, Any]) -> dict[str, float | None]:
    values = {name: metrics.get(name) for name in ("exact_match", "macro_f1")}
    values |= {f"{name}_f1": metrics.get(name, {}).get("f1") for name in ("located", "answered")}
    values |= {f"{side}_f1": metrics.get("entities", {}).get(side, {}).get("f1") for side in ("tail", "head")}
    ranks = metrics.get("reciprocal_ranks", {}).get("several", {})
    values |= {f"mrr_{rule}": ranks.get(rule) for rule in ("smoothed", "max", "sum")}
    return values | {"questions_per_second": metrics.get("speed", {}).get("questions_times_documents_per_second")}


def _training_measures(model: Path) -> dict[str, float | None]:
    """Measures of the training of a model; empty if its folder has none."""
    if not (model / "metrics.json").is_file():
        return {}
    training = _json(model / "metrics.json")
    values = {name: training.get(name) for name in ("dev_f1", "documents_per_second")}
    if "seconds_per_epoch" in training:
        values["training_seconds"] = training["seconds_per_epoch"] * training["epochs"]
    return values


def _spread_table(seeds: Sequence[int], spreads: Mapping[str, Spread]) -> str:
    rows = [
        (_MEASURES[name][0], *(_number(name, value) for value in (one.mean, one.deviation, *one.values)))
        for name, one in spreads.items()
    ]
    return markdown_table(("Measure", "Mean", "SD", *(f"seed {seed}" for seed in seeds)), rows)


def _single(name: str, spreads: Mapping[str, Spread]) -> str:
    rows = [(_MEASURES[measure][0], _number(measure, one.mean)) for measure, one in spreads.items()]
    return f"## {name}, one run\n\n{markdown_table(('Measure', 'Value'), rows)}"


def _number(measure: str, value: float | None) -> str:
    _, factor, decimals = _MEASURES[measure]
    return UNDEFINED if value is None else f"{factor * value:,.{decimals}f}"


def _over_folds(repeats: Repeats, evaluations: Mapping[str, Sequence[Stage]]) -> tuple[dict[str, Any], str]:
    """The counts of all folds added up, as in Table 7 of the BRAN paper."""
    parts, stages = [f"# {len(repeats.values)} folds, each tested on once"], {}
    for name, copies in evaluations.items():
        folds = [_json(stage.out / "metrics.json") for stage in copies]
        if not all("home_types" in fold for fold in folds):
            continue  # predictions from a file do not belong to a fold
        filtered = summed(folds)
        unfiltered, baseline = (summed([fold[part] for fold in folds]) for part in ("unfiltered", "every_pair"))
        documents = sum(fold["protocol"]["documents"] for fold in folds)
        stages[name] = {
            "documents": documents,
            **filtered.to_json(),
            "unfiltered": unfiltered.to_json(),
            "every_pair": baseline.to_json(),
            "by_fold": [fold["micro"] for fold in folds],
        }
        rows = [
            (
                label,
                *percents(one),
            )
            for label, one in (
                ("micro, hypernym filter on", filtered.micro),
                ("micro, hypernym filter off", unfiltered.micro),
                ("every pair, as its types' most frequent relation", baseline.micro),
            )
        ]
        parts.append(
            f"## {name}: {documents:,} documents\n\n{relation_table(filtered)}\n"
            f"{markdown_table(('score', 'P', 'R', 'F1'), rows)}"
        )
    return {"folds": len(repeats.values), "stages": stages}, "\n\n".join(parts) + "\n"


def _json(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({error})", "delete its folder and run the pipeline again") from error
    return content
