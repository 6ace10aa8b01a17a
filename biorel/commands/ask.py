"""ask: a question over many abstracts -> ranked answers with ids, scores by abstract, the vote, and sentences."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from biorel import artifacts
from biorel.config import Ask
from biorel.counts import Counts
from biorel.errors import OutputError
from biorel.formats.answers import write_answers
from biorel.model.checkpoint import pick_device
from biorel.qa.decoding import Candidates, Decoding, Ranked, best, ranked
from biorel.qa.features import DocumentFrequencies, distinct_words
from biorel.qa.folder import ReaderFolder, open_reader
from biorel.qa.metrics import concept, normalised
from biorel.qa.prediction import predict
from biorel.qa.retrieval import Inquiry, inquire
from biorel.records import Annotated, Answer, Found, Question
from biorel.resources import resource
from biorel.scoring.vote import vote
from biorel.text.sentences import sentence_span, sentence_starts

Key = tuple[str, str]  # (concept id, "") or ("", text): what makes two answers one
_CHUNK = 256


@dataclass(frozen=True)
class Summary:
    """What was asked and found.

    Attributes:
        why_none: why there is no answer; empty where there is one.
        bad_places: the first few bad records.
        books: what was read and dropped, by reason.
        seconds: of reading the abstracts with the network, features included.
    """

    question: str
    answers: tuple[Answer, ...]
    documents: int
    why_none: str
    bad_places: tuple[str, ...]
    books: Mapping[str, int]
    seconds: float
    out: Path | None


def run(config: Ask, progress: Callable[[int], None] = lambda documents: None) -> Summary:
    """Answer one question over all documents of `config.over`.

    Args:
        config: the command's configuration.
        progress: is told the number of documents read, after each chunk.

    Raises:
        BiorelError: no abstract, a question without a known word, no template, a model or file that cannot be read,
            or an output that cannot be written. Nothing is left at the output's place then.
    """
    if config.out is not None and config.out.resolve() in {path.resolve() for path in config.over}:
        raise OutputError(f"{config.out}: is an input", "choose another --out")
    device = pick_device(config.device)
    if config.threads:
        torch.set_num_threads(config.threads)
    opened = open_reader(config.model or resource("models", "reader"), device)
    counts = Counts()
    inquiry = inquire(config, opened.cutter, counts)
    began = time.perf_counter()
    candidates = list(_read(config, opened, inquiry, device, progress))
    seconds = time.perf_counter() - began
    least = _least(config, opened.decoding)
    found = [
        row
        for item, question, spans in zip(inquiry.documents, inquiry.questions, candidates, strict=True)
        for row in _found(item, question, ranked(spans, opened.decoding, config.spans, least))
    ]
    answers = tuple(_answers(found, config))[: config.top]
    if config.out is not None:
        with artifacts.whole_file(config.out) as place:
            write_answers(place, answers)
    return Summary(
        question=inquiry.shown,
        answers=answers,
        documents=len(inquiry.documents),
        why_none="" if answers else _why_none(inquiry, candidates, opened.decoding, least),
        bad_places=inquiry.bad_places,
        books=counts.by_reason,
        seconds=seconds,
        out=config.out,
    )


def _least(config: Ask, decoding: Decoding) -> float:
    return decoding.entity_threshold if config.min_score is None else config.min_score


def _read(
    config: Ask, opened: ReaderFolder, inquiry: Inquiry, device: torch.device, progress: Callable[[int], None]
) -> Iterator[Candidates]:
    """The candidates of every document; a word's share of passages is over all documents that are asked."""
    company = DocumentFrequencies.of(distinct_words(item.document.text) for item in inquiry.documents)
    cutter = opened.cutter
    for begin in range(0, len(inquiry.documents), _CHUNK):
        part = slice(begin, begin + _CHUNK)
        items, questions = inquiry.documents[part], inquiry.questions[part]
        passages = [
            passage
            for number, (item, question) in enumerate(zip(items, questions, strict=True))
            for passage in cutter.passages(number, question, item.document.text, company)
        ]
        yield from predict(opened.models, passages, len(items), token_budget=config.batch_tokens, device=device)
        progress(begin + len(items))


@dataclass(frozen=True)
class _Row:
    """One span of one document."""

    key: Key
    type: str
    span: Found


def _found(item: Annotated, question: Question, spans: Sequence[Ranked]) -> Iterator[_Row]:
    """The spans with their concepts and sentences; the concept that is asked about, and other types, are no answer."""
    text = item.document.text
    borders = sentence_starts(
        text, len(item.document.title), [(mention.start, mention.end) for mention in item.mentions]
    )
    types = {mention.entity_id: mention.type for mention in item.mentions}
    for span in spans:
        entity_id = concept(span, item.mentions, question.answer_type)
        shown = text[span.start : span.end]
        name = normalised(shown) or shown.strip()
        if not name or (entity_id and entity_id == question.entity_id) or (question.answer_type and not entity_id):
            continue
        sentence = sentence_span(borders, len(text), span.start, span.end - 1)
        place = Found(
            item.document.doc_id, span.score, span.start, span.end, shown, sentence, text[slice(*sentence)].strip()
        )
        yield _Row((entity_id, "" if entity_id else name), types.get(entity_id, ""), place)


def _answers(rows: Iterable[_Row], config: Ask) -> Iterator[Answer]:
    grouped: dict[Key, list[_Row]] = {}
    for row in rows:
        grouped.setdefault(row.key, []).append(row)
    scored = ((row.key, row.span.doc_id, row.span.score) for group in grouped.values() for row in group)
    for one in vote(scored, config.vote):
        group = grouped[one.answer]
        names = Counter(row.span.text for row in group)
        strongest: dict[str, Found] = {}
        for row in sorted(group, key=lambda row: (-row.span.score, row.span.start)):
            strongest.setdefault(row.span.doc_id, row.span)
        yield Answer(
            text=min(names, key=lambda name: (-names[name], name)),
            entity_id=one.answer[0],
            entity_type=group[0].type,
            score=one.score,
            support=one.support,
            found=tuple(strongest[doc_id] for doc_id in one.by_document),
        )


def _why_none(inquiry: Inquiry, candidates: Sequence[Candidates], decoding: Decoding, least: float) -> str:
    """Why nothing is told, in one sentence."""
    if not inquiry.documents:
        return "no document mentions the concept"
    tops = [top.score for one in candidates if (top := best(one, decoding)) is not None]
    if not tops:
        return f"none of the {len(inquiry.documents)} documents holds a token"
    return f"the best of all spans has the score {max(tops):.3f}, below {least:.3f} (--min-score takes others)"
