"""train-tagger: documents with gold mentions -> a spaCy pipeline that tags entities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.train_tagger import TrainTagger
from biorel.counts import Counts, Outcome, Reason, Rows
from biorel.errors import InputError
from biorel.formats.documents import read_documents
from biorel.ner.words import reachable_spans
from biorel.progress import SILENT, Progress
from biorel.records import Annotated
from biorel.scoring.metrics import Prf

SpanCounts = dict[str, tuple[int, int, int]]


def run(config: TrainTagger, progress: Progress = SILENT) -> Artifact:
    """Train a tagger and write the pipeline of its best epoch to the folder `config.out`.

    Raises:
        BiorelError: an input cannot be read, or the training or dev documents have no mentions.
    """
    from biorel.ner.spacy_training import TrainingArguments, train

    with artifacts.folder("train-tagger", config.options(), config.out, force=config.force) as output:
        training, dev = _splits(config, output.counts, progress)
        arguments = TrainingArguments(
            width=config.width,
            depth=config.depth,
            window=config.window,
            rows=config.rows,
            hidden=config.hidden,
            known_from=config.known_from,
            dropout=config.dropout,
            epochs=config.epochs,
            batch=config.batch,
            learning_rate=config.learning_rate,
            warmup=config.warmup,
            final_rate=config.final_rate,
            seed=config.seed,
        )
        best, best_epoch = dict[str, Prf](), 0
        for report in train(training, dev, arguments, output.path):
            measures = _measures(report.counts)
            if report.best:
                best, best_epoch = measures, report.epoch
            scores = ", ".join(f"{type_} {100 * (measure.f1 or 0):.1f}" for type_, measure in measures.items())
            mark = "  best so far" if report.best else ""
            progress.line(f"epoch {report.epoch}/{config.epochs}  loss {report.loss:.2f}  dev F1: {scores}{mark}")
        metrics = {
            "mentions": {type_: asdict(measure) for type_, measure in best.items()},
            "reachable": _reachable(dev),
            "best_epoch": best_epoch,
            "documents": {"train": len(training), "dev": len(dev)},
        }
        artifacts.write_json(output.path / "metrics.json", metrics)
        (output.path / "README.md").write_text(_card(config, best, metrics), encoding="utf-8")
    return Artifact(label="tagger", path=config.out)


def _splits(config: TrainTagger, counts: Counts, progress: Progress) -> tuple[list[Annotated], list[Annotated]]:
    """The training and dev documents. Without --dev, `config.held_out` training documents, drawn by seed, are dev."""
    read = _read(config.train, "training", "train on documents with gold mentions", counts, progress)
    training = [annotated for annotated in read if annotated.mentions]
    if config.dev:
        return training, _read(config.dev, "dev", "give gold mentions, or leave --dev out", counts, progress)
    if config.held_out >= len(training):
        raise InputError(
            f"--held-out {config.held_out}: too few documents, only {len(training)} training documents have mentions",
            "hold out fewer, or give --dev",
        )
    order = np.random.default_rng(config.seed).permutation(len(training)).tolist()
    return [training[index] for index in order[config.held_out :]], [
        training[index] for index in order[: config.held_out]
    ]


def _read(files: Sequence[Path], kind: str, advice: str, counts: Counts, progress: Progress) -> list[Annotated]:
    """Read documents, and report the rows and mentions that are left out.

    Raises:
        InputError: a file cannot be read (see `read_documents`), or no document has mentions.
    """
    file_counts = Counts()
    documents = list(read_documents(files, file_counts))
    counts.include(file_counts)
    lost = [
        f"{reason}: {file_counts.examples[reason][0]}{f' (and {count - 1:,} more)' if count > 1 else ''}"
        for reason in Reason
        if reason.rows in (Rows.ROWS, Rows.MENTIONS)
        and reason.outcome is Outcome.EXCLUDED
        and (count := file_counts[reason])
    ]
    if not any(annotated.mentions for annotated in documents):
        raise InputError("; ".join([f"no document in the {kind} files has mentions", *lost]), advice)
    for line in lost:
        progress.line(line)
    return documents


def _measures(counts: SpanCounts) -> dict[str, Prf]:
    return {type_: Prf.of(*count) for type_, count in counts.items()}


def _reachable(documents: list[Annotated]) -> float:
    """The share of gold spans that begin and end at word borders: the highest recall that a word tagger can reach."""
    spans = [
        (annotated.document.text, {(mention.start, mention.end) for mention in annotated.mentions})
        for annotated in documents
    ]
    gold = sum(len(mentions) for _, mentions in spans)
    return sum(reachable_spans(text, mentions) for text, mentions in spans) / gold if gold else 0.0


def _card(config: TrainTagger, best: dict[str, Prf], metrics: dict[str, Any]) -> str:
    """The README of a tagger's folder."""
    names = ", ".join(path.name for path in (*config.train, *config.dev))
    rows = [
        f"| {type_} | "
        + " | ".join(f"{100 * (value or 0):.1f}" for value in (prf.precision, prf.recall, prf.f1))
        + " |"
        for type_, prf in best.items()
    ]
    lines = [
        "# Tagger",
        "",
        "A spaCy pipeline that finds entities for `biorel tag` and `biorel extract`, written by `biorel train-tagger`.",
        "",
        f"- made from: {names}; {metrics['documents']['train']} documents for training, "
        f"{metrics['documents']['dev']} to choose the epoch on (seed {config.seed})",
        f"- epoch {metrics['best_epoch']} of {config.epochs}",
        f"- gold spans that begin and end at a word's border: {100 * metrics['reachable']:.2f} %",
        "",
        "Dev documents, strict spans and types, before names are carried over within a document:",
        "",
        "| type | P | R | F1 |",
        "|---|---|---|---|",
        *rows,
    ]
    return "\n".join(lines) + "\n"
