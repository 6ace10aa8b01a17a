"""train-tagger: documents with gold mentions -> a spaCy pipeline that finds them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from biorel import artifacts
from biorel.config import TrainTagger
from biorel.errors import InputError
from biorel.ledger import Ledger
from biorel.records import Annotated
from biorel.scoring.metrics import Prf
from biorel.sources.documents import read_documents

Progress = Callable[[str], None]


def run(config: TrainTagger, progress: Progress = lambda line: None) -> Path:
    """Train and write the pipeline folder `config.out`; returns it.

    Raises:
        BiorelError: spaCy is not installed, an input cannot be read, or there is nothing to train or choose on.
    """
    from biorel.tagging.spacy_model import load_spacy
    from biorel.tagging.spacy_training import Recipe, Report, count_spans, predicted_spans, train

    training, dev = _splits(config, Ledger())
    with artifacts.folder("train-tagger", config, config.out, force=config.force) as artifact:
        recipe = Recipe(**{field.name: getattr(config, field.name) for field in fields(Recipe) if field.name in config.model_fields_set | set(type(config).model_fields)})
        best: Report | None = None
        for report in train(training, dev, recipe, artifact.path):
            rows = ", ".join(f"{type_} F1 {100 * (prf.f1 or 0):.1f}" for type_, prf in _measures(report.counts).items())
            progress(f"epoch {report.epoch}/{config.epochs}  loss {report.loss:.2f}  dev {rows}{'  best so far' if report.best else ''}")
            best = report if report.best else best
        if best is None:
            raise InputError("no epoch was finished", "give --epochs 1 or more")
        nlp = load_spacy(str(artifact.path))
        reachable = _reachable(nlp, dev)
        metrics = {
            "mentions": {type_: vars_of(prf) for type_, prf in _measures(best.counts).items()},
            "recall_ceiling_of_the_words": reachable,
            "best_epoch": best.epoch,
            "documents": {"train": len(training), "dev": len(dev)},
        }
        again = count_spans(dev, predicted_spans(nlp, [annotated.document for annotated in dev]))
        if again != best.counts:
            raise InputError("the pipeline that was written reads dev otherwise than the one that was trained")
        artifacts.write_json(artifact.path / "metrics.json", metrics)
        (artifact.path / "README.md").write_text(_card(config, metrics), encoding="utf-8")
    return config.out
