"""run: a whole pipeline from one TOML file; a stage whose inputs and parameters did not change is skipped.

Every stage writes `OUT/NAME`; with --seeds or --folds see `replicas`. The fingerprint in a stage's manifest says what
it was made from; where it is the same, the stage is skipped.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from biorel import artifacts, config
from biorel.commands import (
    aggregate,
    ask,
    build_dataset,
    build_graph,
    build_linker,
    build_questions,
    ensemble,
    evaluate,
    evaluate_reader,
    export,
    extract,
    pretrain,
    tag,
    train,
    train_reader,
    train_tagger,
)
from biorel.config import Config, Run
from biorel.pipeline import summaries
from biorel.pipeline.repeats import plan, replica_of
from biorel.pipeline.stages import Command, Progress
from biorel.training.loop import display_name

COMMANDS = {
    "build-dataset": Command(config.BuildDataset, build_dataset.run),
    "pretrain": Command(config.Pretrain, pretrain.run),
    "train": Command(config.Train, lambda given, progress: train.run(given, lambda reports: _told(reports, progress))),
    "ensemble": Command(config.Ensemble, ensemble.run, gathers=True),
    "evaluate": Command(config.Evaluate, evaluate.run),
    "extract": Command(config.Extract, lambda given, _: extract.run(given), ".jsonl"),
    "aggregate": Command(config.Aggregate, aggregate.run, ".parquet"),
    "build-questions": Command(config.BuildQuestions, build_questions.run),
    "train-reader": Command(
        config.TrainReader, lambda given, progress: train_reader.run(given, lambda reports: _told(reports, progress))
    ),
    "evaluate-reader": Command(config.EvaluateReader, evaluate_reader.run),
    "ask": Command(config.Ask, lambda given, _: ask.run(given), ".jsonl"),
    "tag": Command(config.Tag, tag.run),
    "train-tagger": Command(config.TrainTagger, train_tagger.run),
    "build-linker": Command(config.BuildLinker, build_linker.run),
    "build-graph": Command(config.BuildGraph, build_graph.run),
    "export": Command(config.Export, export.run),
}


def _told(reports: Any, progress: Progress) -> Any:
    for report in reports:
        if report.dev is not None:
            told = [f"{display_name(name)} {value:.3f}" for name, value in report.losses.items()]
            told += [f"dev {display_name(name)} {100 * value:.1f}" for name, value in report.dev.measures.items()]
            progress(f"  epoch {report.epoch}: {', '.join(told)}, {report.speed:.1f} a second")
        yield report


def run(given: Run, progress: Progress = lambda line: None) -> list[str]:
    """Run the stages in order; returns those that ran, by name (`seed-1/model` for the copy of a seed).

    With --seeds or --folds the evaluations of all copies are summed up in the end, in `OUT/seeds.json` and
    `OUT/seeds.md` (`OUT/folds.json`, `OUT/folds.md`).

    Raises:
        BiorelError: the pipeline is no valid TOML or names what there is not, or a stage failed; the
            stages before it keep their outputs.
    """
    ran = []
    due: set[str] = set()
    stages = plan(given, COMMANDS)
    for stage in stages:
        command, configured = COMMANDS[stage.command], stage.config
        reason = _reason(stage.command, configured, stage.out)
        if given.dry_run and not reason and due & stage.uses:
            reason = f"runs again, after {', '.join(sorted(due & stage.uses))}"
        progress(f"{stage.label}: {reason or 'skipped, nothing that it depends on has changed'}")
        if reason:
            due.add(stage.label)
        if reason and not given.dry_run:
            if "force" in command.kind.model_fields:
                configured = configured.model_copy(update={"force": True})
            command.run(configured, progress)
            ran.append(stage.label)
            if command.suffix:
                _sign(stage.command, configured, stage.out)
    replica = replica_of(given)
    if replica is not None and not given.dry_run:
        progress(summaries.write(given.out, replica, stages))
    return ran


def _manifest_path(out: Path) -> Path:
    return out / artifacts.MANIFEST if not out.suffix else out.with_suffix(".manifest.json")


def _reason(command: str, configured: Config, out: Path) -> str:
    """Why the stage must run; empty where it need not."""
    path = _manifest_path(out)
    if not out.exists() or not path.is_file():
        return "runs, there is no output yet"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    if manifest.get("fingerprint") == artifacts.fingerprint(command, configured):
        return ""
    now, before = configured.model_dump(mode="json", by_alias=True), manifest.get("config", {})
    changed = [field for field in now if field != "force" and now[field] != before.get(field)]
    return f"runs again, changed: {', '.join(changed) if changed else 'an input'}"


def _sign(command: str, configured: Config, out: Path) -> None:
    """A file has no manifest of its own: put one beside it."""
    artifacts.write_json(
        _manifest_path(out),
        {
            "fingerprint": artifacts.fingerprint(command, configured),
            "config": configured.model_dump(mode="json", by_alias=True),
        },
    )
