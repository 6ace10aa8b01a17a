"""Answers over many documents: spans with the same concept are grouped, and the groups are ranked by a vote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch

from biorel.qa.decoding import Decoding, RankedSpan, SpanCandidates, best_span
from biorel.qa.features import DocumentFrequencies, distinct_words
from biorel.qa.folder import ReaderFolder
from biorel.qa.metrics import normalise_answer, span_concept
from biorel.qa.prediction import predict
from biorel.qa.retrieval import DocumentQuestions
from biorel.records import Annotated, Answer, Found, Question
from biorel.scoring.vote import vote
from biorel.text.sentences import sentence_span, sentence_starts

AnswerKey = tuple[str, str]  # (concept id, "") or ("", normalised text)
_CHUNK = 256


@dataclass(frozen=True)
class LinkedSpan:
    """One span of one document, with the key of the answer that it belongs to."""

    key: AnswerKey
    type: str
    span: Found


def predict_documents(
    asked: DocumentQuestions,
    opened: ReaderFolder,
    *,
    token_budget: int,
    device: torch.device,
    progress: Callable[[int], None],
) -> Iterator[SpanCandidates]:
    """Yield the candidates of each document. Document frequencies are counted over all documents that are asked.

    Args:
        progress: called with the number of documents finished, after each chunk.
    """
    document_frequencies = DocumentFrequencies.of(distinct_words(item.document.text) for item in asked.documents)
    windower = opened.windower()
    for begin in range(0, len(asked.documents), _CHUNK):
        chunk = slice(begin, begin + _CHUNK)
        items, questions = asked.documents[chunk], asked.questions[chunk]
        passages = [
            passage
            for number, (item, question) in enumerate(zip(items, questions, strict=True))
            for passage in windower.passages(number, question, item.document.text, document_frequencies)
        ]
        yield from predict(opened.readers, passages, len(items), token_budget=token_budget, device=device)
        progress(begin + len(items))


def answer_spans(item: Annotated, question: Question, spans: Sequence[RankedSpan]) -> Iterator[LinkedSpan]:
    """Yield the spans of a document with their concepts and sentences.

    The concept that the question names is no answer. If the question asks for an entity type, other types are none.
    """
    text = item.document.text
    starts = sentence_starts(
        text, len(item.document.title), [(mention.start, mention.end) for mention in item.mentions]
    )
    types = {mention.entity_id: mention.type for mention in item.mentions}
    for span in spans:
        entity_id = span_concept(span, item.mentions, question.answer_type)
        span_text = text[span.start : span.end]
        name = normalise_answer(span_text) or span_text.strip()
        if not name or (entity_id and entity_id == question.entity_id) or (question.answer_type and not entity_id):
            continue
        sentence = sentence_span(starts, len(text), span.start, span.end - 1)
        evidence = Found(
            item.document.doc_id, span.score, span.start, span.end, span_text, sentence, text[slice(*sentence)].strip()
        )
        yield LinkedSpan((entity_id, "" if entity_id else name), types.get(entity_id, ""), evidence)


def vote_answers(spans: Iterable[LinkedSpan], rule: str) -> Iterator[Answer]:
    """Yield the answers, highest vote first. An answer has its most common name and its best span in each document.

    Args:
        rule: a key of `scoring.vote.VOTES`.
    """
    groups: dict[AnswerKey, list[LinkedSpan]] = {}
    for span in spans:
        groups.setdefault(span.key, []).append(span)
    scores = ((row.key, row.span.doc_id, row.span.score) for group in groups.values() for row in group)
    for voted in vote(scores, rule):
        group = groups[voted.answer]
        names = Counter(row.span.text for row in group)
        best: dict[str, Found] = {}
        for row in sorted(group, key=lambda row: (-row.span.score, row.span.start)):
            best.setdefault(row.span.doc_id, row.span)
        yield Answer(
            text=min(names, key=lambda name: (-names[name], name)),
            entity_id=voted.answer[0],
            entity_type=group[0].type,
            score=voted.score,
            support=voted.support,
            found=tuple(best[doc_id] for doc_id in voted.by_document),
        )


def explain_no_answer(candidates: Sequence[SpanCandidates], decoding: Decoding, min_score: float) -> str:
    """Explain in one sentence why no document has an answer.

    Args:
        candidates: the candidates of each document that was asked.
    """
    if not candidates:
        return "no document mentions the concept"
    scores = [span.score for one in candidates if (span := best_span(one, decoding)) is not None]
    if not scores:
        return f"none of the {len(candidates)} documents contains a token"
    return f"the best span has a score of {max(scores):.3f}, below {min_score:.3f} (change it with --min-score)"
