"""Format the answers from many abstracts as JSON lines (one answer per line) or as a table for a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from biorel.records import Answer

_DIGITS = 6
_SHOWN = 90


def write_answers(path: Path, answers: Iterable[Answer]) -> None:
    """Write one line for each answer, best first. A line holds the spans of the answer in each document."""
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for rank, answer in enumerate(answers, start=1):
            stream.write(json.dumps({"rank": rank, **answer_row(answer)}, ensure_ascii=False, allow_nan=False) + "\n")


def answer_row(answer: Answer) -> dict[str, Any]:
    """The answer as a JSON object; scores are rounded to six decimal places."""
    row = asdict(answer)
    row["score"] = round(answer.score, _DIGITS)
    for found in row["found"]:
        found["score"] = round(found["score"], _DIGITS)
    return row


def answer_table(answers: Sequence[Answer]) -> list[str]:
    """The lines of a table: rank, vote, documents, answer and id, with a sentence of the best document below each."""
    lines = []
    for rank, answer in enumerate(answers, start=1):
        best = answer.found[0]
        named = f"{answer.text} ({answer.entity_id})" if answer.entity_id else answer.text
        documents = f"{answer.support} abstract{'s' if answer.support > 1 else ''}"
        lines.append(f"{rank:>3}  {answer.score:.3f}  {documents:<13} {named}")
        sentence = " ".join(best.sentence_text.split())
        shown = sentence if len(sentence) <= _SHOWN else f"{sentence[: _SHOWN - 1]}…"
        lines.append(f"     {best.doc_id} {best.start}-{best.end} ({best.score:.3f}): {shown}")
    return lines
