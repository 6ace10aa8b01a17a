"""Read and write question sets in the JSON format of SQuAD 1.1 and 2.0: documents and questions with answer spans.

    {"data": [{"title": "...", "paragraphs": [{"context": "...", "qas": [
        {"id": "...", "question": "...", "is_impossible": false,
         "answers": [{"text": "...", "answer_start": 12}]}]}]}]}

A question without answers is unanswerable. `answer_start` counts code points.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.formats.files import HALF_OF_PAIR, LARGEST_JSON, fits_in_memory, read_whole
from biorel.formats.jsonl import cut_title
from biorel.records import AnswerSpan, Document, Question

VERSION = "v2.0"
_HINT = "SQuAD JSON is data > paragraphs > context and qas, each with id, question and answers"


class _FaultError(Exception):
    """The input is not SQuAD JSON. The message names the place and the fault."""


def read_squad(path: Path, counts: Counts) -> Iterator[tuple[Document, tuple[Question, ...]]]:
    """Yield each paragraph as a document with its questions.

    The id of a document is the title of its article, followed by `#2` and so on for further paragraphs and repeated
    titles. If the text of an answer is not at its start offset, the answer is moved to the only
    occurrence of the text; if there is not exactly one occurrence, the answer is dropped and counted.

    Raises:
        InputError: the file cannot be read, is not JSON, or is not SQuAD JSON. The message names the place.
    """
    content = read_whole(path, LARGEST_JSON)
    try:
        text = content.decode("utf-8-sig")
        if not fits_in_memory(text):
            raise InputError(
                f"{path}: the file has too many values to be read at once", "divide the file into several files"
            )
        value = json.loads(text)
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error})", _HINT) from error
    try:
        yield from _paragraphs(value, counts, str(path))
    except _FaultError as fault:
        raise InputError(f"{path}: {fault}", _HINT) from fault


def _paragraphs(value: Any, counts: Counts, place: str) -> Iterator[tuple[Document, tuple[Question, ...]]]:
    names = _UniqueNames()
    asked: set[str] = set()
    for number, article in enumerate(_list(_field(value, "data", "the file"), "data")):
        where = f"data[{number}]"
        title = _text(article.get("title", f"article-{number + 1}") if isinstance(article, dict) else "", where)
        for index, paragraph in enumerate(_list(_field(article, "paragraphs", where), f"{where}.paragraphs")):
            inner = f"{where}.paragraphs[{index}]"
            context = _text(_field(paragraph, "context", inner), f"{inner}.context")
            if not context.strip():
                raise _FaultError(f"{inner}.context is empty")
            doc_id = names.take(title)
            questions = []
            for position, item in enumerate(_list(_field(paragraph, "qas", inner), f"{inner}.qas")):
                question = _question(item, f"{inner}.qas[{position}]", doc_id, context, counts, place)
                if question.question_id in asked:
                    raise _FaultError(f"{inner}.qas[{position}]: the id {question.question_id} is used twice")
                asked.add(question.question_id)
                questions.append(question)
            counts.add(Reason.RECORDS_READ)
            counts.add(Reason.DOCUMENTS_READ)
            counts.add(Reason.DOCUMENTS_KEPT)
            counts.add(Reason.QUESTIONS_READ, count=len(questions))
            yield Document(doc_id, *cut_title(context)), tuple(questions)


def _question(item: Any, where: str, doc_id: str, context: str, counts: Counts, path: str) -> Question:
    question_id = _text(_field(item, "id", where), f"{where}.id")
    text = _text(_field(item, "question", where), f"{where}.question").strip()
    if not text:
        raise _FaultError(f"{where}.question is empty")
    spans: dict[AnswerSpan, None] = {}
    given = [] if item.get("is_impossible") is True else item.get("answers", [])
    for number, answer in enumerate(_list(given, f"{where}.answers")):
        inner = f"{where}.answers[{number}]"
        wanted = _text(_field(answer, "text", inner), f"{inner}.text")
        start = _field(answer, "answer_start", inner)
        if isinstance(start, bool) or not isinstance(start, int):
            raise _FaultError(f"{inner}.answer_start is not a whole number")
        counts.add(Reason.ANSWERS_READ)
        if not wanted.strip():
            counts.add(Reason.ANSWER_EMPTY, f"{path} {question_id}")
            continue
        if context[max(0, start) : start + len(wanted)] != wanted or start < 0:
            if context.count(wanted) != 1:
                counts.add(Reason.ANSWER_SPAN_MISMATCH, f"{path} {question_id}")
                continue
            counts.add(Reason.ANSWER_MOVED, f"{path} {question_id}")
            start = context.index(wanted)
        span = AnswerSpan(start, start + len(wanted), wanted, "")
        if span in spans:
            counts.add(Reason.ANSWER_REPEATED, f"{path} {question_id}")
        spans[span] = None
    counts.add(Reason.ANSWERS_KEPT, count=len(spans))
    ordered = tuple(sorted(spans, key=lambda span: (span.start, span.end)))
    return Question(question_id, doc_id, text, "", "", "", "", ordered, ())


class _UniqueNames:
    """Gives each document a distinct name."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._numbers: Counter[str] = Counter()  # the last number given for each title

    def take(self, title: str) -> str:
        """The title, followed by a number if the title is already the name of another document."""
        name = title
        while name in self._used:
            self._numbers[title] += 1
            name = f"{title}#{self._numbers[title] + 1}"
        self._used.add(name)
        return name


def _field(value: Any, name: str, where: str) -> Any:
    if not isinstance(value, dict):
        raise _FaultError(f"{where} is not an object")
    if name not in value:
        raise _FaultError(f"{where} has no {name}")
    return value[name]


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise _FaultError(f"{where} is not a list")
    return value


def _text(value: Any, where: str) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise _FaultError(f"{where} is not a string")
    if HALF_OF_PAIR.search(value):
        raise _FaultError(f"{where} holds half of a surrogate pair, which is not a character")
    return value


def write_squad(path: Path, items: Iterable[tuple[Document, Sequence[Question]]]) -> None:
    """Write documents with their questions in the format that `read_squad` reads.

    Spans keep their offsets. The format has no concept ids.
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
