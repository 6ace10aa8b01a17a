"""evaluate-reader: a reader and the questions of one split -> answers and their scores."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.evaluate_reader import EvaluateReader
from biorel.counts import Reason
from biorel.dataset.splits import read_ids
from biorel.knowledge.known_pairs import read_known_pairs
from biorel.model.device import pick_device
from biorel.progress import SILENT, Progress
from biorel.qa.decoding import Decoding, rank_spans
from biorel.qa.folder import open_reader
from biorel.qa.metrics import QuestionResult, measure, reciprocal_ranks, span_concept
from biorel.qa.question_sets import read_questions, read_split_ids
from biorel.qa.questions import TAIL
from biorel.scoring.metrics import Prf
from biorel.scoring.tables import markdown_table, percent, percents
from biorel.scoring.vote import VOTES

_LISTED_ANSWERS = 5


def run(config: EvaluateReader, progress: Progress = SILENT) -> Artifact:
    """Write metrics.json, tables.md and answers.jsonl into the folder `config.out`.

    The decoding was tuned on dev in training and is read from the model folder.

    Raises:
        BiorelError: the model or the questions cannot be read.
    """
    device = pick_device(config.device)
    if config.threads:
        torch.set_num_threads(config.threads)
    opened = open_reader(config.model, device)
    questions = read_questions(config.questions, config.split)
    with artifacts.folder("evaluate-reader", config.options(), config.out, force=config.force) as output:
        started = time.perf_counter()
        passages = questions.passages(opened.windower())
        prepared = time.perf_counter()
        results = questions.results(opened.readers, passages, config.batch_tokens, device)
        finished = time.perf_counter()
        metrics: dict[str, Any] = measure(results, opened.decoding) | {
            "protocol": {
                "split": config.split,
                "documents": len(questions.texts),
                "decoding": opened.decoding.to_json(),
                "members": len(opened.readers),
                "device": str(device),
            },
            "speed": {
                "seconds_of_features": prepared - started,
                "seconds_of_reading": finished - prepared,
                "questions_times_documents_per_second": len(results) / max(1e-9, finished - started),
            },
        }
        if config.known is not None:
            excluded = set(read_ids(config.exclude_pmids, output.counts))
            excluded |= {id_ for split in config.exclude_splits for id_ in read_split_ids(config.questions, split)}
            known = _tails_by_head(read_known_pairs(config.known, output.counts, excluded))
            metrics["reciprocal_ranks"] = reciprocal_ranks(results, opened.decoding, known, TAIL)
        artifacts.write_json(output.path / "metrics.json", metrics)
        table = _table(metrics)
        (output.path / "tables.md").write_text(table + "\n", encoding="utf-8")
        with (output.path / "answers.jsonl").open("w", encoding="utf-8") as stream:
            for row in _answer_rows(results, opened.decoding):
                stream.write(json.dumps(row, ensure_ascii=False) + "\n")
        output.counts.add(Reason.QUESTIONS_READ, count=len(results))
        output.counts.add(Reason.QUESTIONS_KEPT, count=len(results))
    return Artifact(label="evaluation", path=config.out, summary=[table])


def _tails_by_head(pairs: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    tails: dict[str, set[str]] = {}
    for head, tail in pairs:
        tails.setdefault(head, set()).add(tail)
    return {head: frozenset(ids) for head, ids in tails.items()}


def _answer_rows(results: Sequence[QuestionResult], decoding: Decoding) -> list[dict[str, Any]]:
    """The best spans of each question, including those below the threshold."""
    return [
        {
            "question_id": result.question.question_id,
            "question": result.question.text,
            "answers": [
                {
                    "start": span.start,
                    "end": span.end,
                    "text": result.text[span.start : span.end],
                    "entity_id": span_concept(span, result.mentions, result.question.answer_type),
                    "score": round(span.score, 6),
                }
                for span in rank_spans(result.candidates, decoding, _LISTED_ANSWERS)
            ],
        }
        for result in results
    ]


def _table(metrics: dict[str, Any]) -> str:
    rows = [
        (f"Best span, {metrics['answerable']} answerable questions: exact match", percent(metrics["exact_match"])),
        ("Best span: macro F1", percent(metrics["macro_f1"])),
        ("With 'no answer' as an option: F1", percent(metrics["located"]["f1"])),
        ("Answer or no answer: F1", percent(metrics["answered"]["f1"])),
        *(
            (f"Entities, {name}: P / R / F1", " / ".join(percents(Prf(**prf))))
            for name, prf in metrics["entities"].items()
        ),
    ]
    rows += [
        (
            f"Mean reciprocal rank of a known tail, {measures['questions']} concepts ({name}), vote {rule}",
            percent(measures[rule]),
        )
        for name, measures in metrics.get("reciprocal_ranks", {}).items()
        for rule in VOTES
    ]
    return markdown_table((f"{metrics['questions']} questions", "%"), rows)
