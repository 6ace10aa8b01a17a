"""Questions as the JSON of SQuAD 2.0, which other readers take: one article and one paragraph for each document."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from biorel.answers import Question
from biorel.records import Document

VERSION = "v2.0"


def write_squad(path: Path, items: Iterable[tuple[Document, Sequence[Question]]]) -> None:
    """Write all documents with their questions; what `sources.squad` reads again.

    Spans keep their offsets; concept ids have no place in the format.
    """
    data = [_article(document, questions) for document, questions in items]
    path.write_text(json.dumps({"version": VERSION, "data": data}, ensure_ascii=False) + "\n", encoding="utf-8")


def _article(document: Document, questions: Sequence[Question]) -> dict[str, Any]:
    paragraph = {"context": document.text, "qas": [_question_row(question) for question in questions]}
    return {"title": document.doc_id, "paragraphs": [paragraph]}


def _question_row(question: Question) -> dict[str, Any]:
    spans = dict.fromkeys((span.start, span.text) for span in question.answers)
    return {
        "id": question.question_id,
        "question": question.text,
        "is_impossible": not spans,
        "answers": [{"text": text, "answer_start": start} for start, text in spans],
    }
