"""evaluate-reader: a reader's answers to the questions of one split, and how good they are."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import torch

from biorel import artifacts
from biorel.config import EvaluateReader
from biorel.counts import Reason
from biorel.dataset.splits import read_ids
from biorel.knowledge.known_pairs import read_known_pairs
from biorel.model.checkpoint import pick_device
from biorel.qa.decoding import Decoding, ranked
from biorel.qa.folder import open_reader
from biorel.qa.known_answers import reciprocal_ranks
from biorel.qa.metrics import Judged, concept, measure
from biorel.qa.question_sets import read_questions, split_ids
from biorel.qa.templates import TAIL
from biorel.scoring.metrics import Prf
from biorel.scoring.tables import markdown_table, percent, percents
from biorel.scoring.vote import VOTES

Progress = Callable[[str], None]
_TOLD = 5


def run(config: EvaluateReader, progress: Progress = lambda line: None) -> Path:
    """Write `config.out` with metrics.json, tables.md and answers.jsonl; returns it.

    Decoding is that of the model folder, as it was chosen on dev.

    Raises:
        BiorelError: the model or the questions cannot be read.
    """
    device = pick_device(config.device)
    if config.threads:
        torch.set_num_threads(config.threads)
    opened = open_reader(config.model, device)
    asked = read_questions(config.questions, config.split)
    with artifacts.folder("evaluate-reader", config, config.out, force=config.force) as artifact:
        began = time.perf_counter()
        passages = asked.passages(opened.cutter)
        prepared = time.perf_counter()
        judged = asked.judged(opened.models, passages, config.batch_tokens, device)
        finished = time.perf_counter()
        metrics: dict[str, Any] = measure(judged, opened.decoding) | {
            "protocol": {
                "split": config.split,
                "documents": len(asked.texts),
                "decoding": opened.decoding.to_json(),
                "members": len(opened.models),
                "device": str(device),
            },
            "speed": {
                "seconds_of_features": prepared - began,
                "seconds_of_reading": finished - prepared,
                "questions_times_documents_per_second": len(judged) / max(1e-9, finished - began),
            },
        }
        if config.known is not None:
            excluded = set(read_ids(config.exclude_pmids, artifact.counts))
            excluded |= {doc_id for split in config.exclude_splits for doc_id in split_ids(config.questions, split)}
            known = _by_head(read_known_pairs(config.known, artifact.counts, excluded))
            metrics["reciprocal_ranks"] = reciprocal_ranks(judged, opened.decoding, known, TAIL)
        artifacts.write_json(artifact.path / "metrics.json", metrics)
        table = _table(metrics)
        (artifact.path / "tables.md").write_text(table + "\n", encoding="utf-8")
        with (artifact.path / "answers.jsonl").open("w", encoding="utf-8") as stream:
            for row in _answers(judged, opened.decoding):
                stream.write(json.dumps(row, ensure_ascii=False) + "\n")
        artifact.counts.add(Reason.QUESTIONS_READ, count=len(judged))
    progress(table)
    return config.out


def _by_head(pairs: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    tails: dict[str, set[str]] = {}
    for head, tail in pairs:
        tails.setdefault(head, set()).add(tail)
    return {head: frozenset(found) for head, found in tails.items()}


def _answers(judged: Sequence[Judged], decoding: Decoding) -> list[dict[str, Any]]:
    """The best spans of each question, whatever the threshold."""
    return [
        {
            "question_id": one.question.question_id,
            "question": one.question.text,
            "answers": [
                {
                    "start": span.start,
                    "end": span.end,
                    "text": one.text[span.start : span.end],
                    "entity_id": concept(span, one.mentions, one.question.answer_type),
                    "score": round(span.score, 6),
                }
                for span in ranked(one.candidates, decoding, _TOLD)
            ],
        }
        for one in judged
    ]


def _table(metrics: dict[str, Any]) -> str:
    rows = [
        (f"Best span of {metrics['answerable']} answerable questions: exact match", percent(metrics["exact_match"])),
        ("the same: macro F1", percent(metrics["macro_f1"])),
        ("With 'no answer' as an option: F1", percent(metrics["located"]["f1"])),
        ("Answer or no answer: F1", percent(metrics["answered"]["f1"])),
        *(
            (f"Entities, {name}: P / R / F1", " / ".join(percents(Prf(**prf))))
            for name, prf in metrics["entities"].items()
        ),
    ]
    ranks = metrics.get("reciprocal_ranks", {})
    rows += [
        (
            f"Mean reciprocal rank of a known tail, {told['questions']} concepts ({name}), vote {rule}",
            percent(told[rule]),
        )
        for name, told in ranks.items()
        for rule in VOTES
    ]
    return markdown_table((f"{metrics['questions']} questions", "%"), rows)
