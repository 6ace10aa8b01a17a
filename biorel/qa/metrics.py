"""How good answers are: the best span, the decision whether there is one, and the entities that spans name.

exact_match, macro_f1   of the best span of each answerable question, as in MaP's table ('no answer' is not an option)
located                 F1 with 'no answer' as an option: token F1 earned, over questions answered and answerable
answered                F1 of the decision that there is an answer
with_no_answer          exact match and token F1 over all questions, 'no answer' being right for unanswerable ones
entities                micro F1 of facts (question, concept), comparable to relation extraction
reciprocal_ranks        mean reciprocal rank of known answers in the vote over abstracts
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from biorel.qa.decoding import Decoding, RankedSpan, SpanCandidates, best_span, rank_spans
from biorel.records import Mention, Question
from biorel.scoring.metrics import Prf
from biorel.scoring.vote import VOTES, reciprocal_rank, vote

MOST_ENTITY_SPANS = 20
_MOST_VOTED_SPANS = 10
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True)
class QuestionResult:
    """A question with a reader's candidates, and the text and mentions of its document."""

    question: Question
    text: str
    mentions: tuple[Mention, ...]
    candidates: SpanCandidates


def measure(results: Sequence[QuestionResult], decoding: Decoding) -> dict[str, Any]:
    """All measures but `reciprocal_ranks`, as plain values. A measure that is undefined is None."""
    best = [best_span(result.candidates, decoding) for result in results]
    answered = [span is not None and span.score >= decoding.threshold for span in best]
    answerable = [bool(result.question.answers) for result in results]
    exact = [_score_span(exact_match, result, span) for result, span in zip(results, best, strict=True)]
    f1 = [_score_span(token_f1, result, span) for result, span in zip(results, best, strict=True)]
    rightly_answered = sum(given and can_be for given, can_be in zip(answered, answerable, strict=True))
    return {
        "questions": len(results),
        "answerable": sum(answerable),
        "exact_match": _mean(value for value, can_be in zip(exact, answerable, strict=True) if can_be),
        "macro_f1": _mean(value for value, can_be in zip(f1, answerable, strict=True) if can_be),
        "located": located(f1, answered, answerable),
        "answered": asdict(Prf.of(rightly_answered, sum(answered), sum(answerable))),
        "with_no_answer": {
            name: _mean(
                (value if given else 0.0) if can_be else float(not given)
                for value, given, can_be in zip(values, answered, answerable, strict=True)
            )
            for name, values in (("exact_match", exact), ("f1", f1))
        },
        "entities": entity_measures(results, decoding),
    }


def located(f1: Sequence[float], answered: Sequence[bool], answerable: Sequence[bool]) -> dict[str, float | None]:
    """Precision, recall and F1 of the token F1 earned: over the answered questions, and over the answerable ones.

    Args:
        f1: token F1 of each question's best span.
    """
    earned = sum(value for value, given, can_be in zip(f1, answered, answerable, strict=True) if given and can_be)
    predicted, gold = sum(answered), sum(answerable)
    return {
        "precision": earned / predicted if predicted else None,
        "recall": earned / gold if gold else None,
        "f1": 2 * earned / (predicted + gold) if gold else None,
    }


def best_spans_with_f1(results: Sequence[QuestionResult], decoding: Decoding) -> tuple[list[float], list[float]]:
    """The score of each question's best span (0 without any), and the token F1 that it would earn."""
    best = [best_span(result.candidates, decoding) for result in results]
    scores = [0.0 if span is None else span.score for span in best]
    return scores, [_score_span(token_f1, result, span) for result, span in zip(results, best, strict=True)]


def entity_measures(results: Iterable[QuestionResult], decoding: Decoding) -> dict[str, Any]:
    """Micro measures of the facts (question, concept), overall and by the side asked for.

    Questions that name no concept are left out, and so are the concepts that a question ignores.
    """
    counts: dict[str, list[int]] = {}
    for result in results:
        if not result.question.entity_id:
            continue
        gold = {span.entity_id for span in result.question.answers} - {""}
        predicted = predicted_entities(result, decoding) - set(result.question.ignored)
        for name in ("overall", result.question.asks):
            row = counts.setdefault(name, [0, 0, 0])
            for column, number in enumerate((len(gold & predicted), len(predicted), len(gold))):
                row[column] += number
    return {name: asdict(Prf.of(*counts[name])) for name in sorted(counts, key=lambda name: (name != "overall", name))}


def predicted_entities(result: QuestionResult, decoding: Decoding) -> set[str]:
    """The concepts of all spans at or above the entity threshold."""
    spans = rank_spans(result.candidates, decoding, MOST_ENTITY_SPANS, decoding.entity_threshold)
    concepts = (span_concept(span, result.mentions, result.question.answer_type) for span in spans)
    return {concept for concept in concepts if concept}


def span_concept(span: RankedSpan, mentions: Iterable[Mention], entity_type: str) -> str:
    """The concept id of the linked mention that overlaps the span most; empty if there is none.

    Args:
        entity_type: only mentions of this type count, unless it is empty.
    """
    overlapping = [
        (min(span.end, mention.end) - max(span.start, mention.start), -abs(mention.end - mention.start), mention)
        for mention in mentions
        if mention.entity_id and entity_type in ("", mention.type)
    ]
    shared = [row for row in overlapping if row[0] > 0]
    if not shared:
        return ""
    return max(shared, key=lambda row: (row[0], row[1], -row[2].start, row[2].entity_id))[2].entity_id or ""


def reciprocal_ranks(
    results: Iterable[QuestionResult], decoding: Decoding, known: Mapping[str, frozenset[str]], asks: str
) -> dict[str, Any]:
    """For each vote, the mean reciprocal rank of the first known answer for a concept, over all its abstracts.

    The questions about one concept and relation count as one. No threshold applies: the ten best spans of each abstract
    are ranked. A correct answer that is not in `known` counts as wrong. If a reader was trained on articles that
    `known` was curated from, exclude the pairs that only those articles support (`read_known_pairs`).

    Args:
        known: the correct answers, by concept id. Questions about other concepts are left out.
        asks: only questions that ask for this side count.

    Returns:
        `all`, and `several` for the concepts asked about in at least two abstracts. Each has the number of `questions`
        and, under each vote's name, the mean, which is None if there is no question.
    """
    votes: dict[tuple[str, str], list[tuple[str, str, float]]] = {}
    documents: dict[tuple[str, str], int] = {}
    for result in results:
        question = result.question
        if question.asks != asks or question.entity_id not in known:
            continue
        key = (question.relation, question.entity_id)
        documents[key] = documents.get(key, 0) + 1
        rows = votes.setdefault(key, [])
        for span in rank_spans(result.candidates, decoding, _MOST_VOTED_SPANS):
            concept = span_concept(span, result.mentions, question.answer_type)
            if concept:
                rows.append((concept, question.doc_id, span.score))
    measures: dict[str, Any] = {}
    for name, min_documents in (("all", 1), ("several", 2)):
        keys = [key for key in votes if documents[key] >= min_documents]
        measures[name] = {"questions": len(keys)}
        for rule in VOTES:
            ranks = [reciprocal_rank([voted.answer for voted in vote(votes[key], rule)], known[key[1]]) for key in keys]
            measures[name][rule] = fmean(ranks) if ranks else None
    return measures


def normalise_answer(text: str) -> str:
    """Lower case, without ASCII punctuation, articles and extra blanks (SQuAD, Rajpurkar et al. 2016)."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(answer: str, correct: Iterable[str]) -> float:
    """SQuAD's exact match: 1 if the answer equals a correct one after normalisation, otherwise 0."""
    return float(normalise_answer(answer) in {normalise_answer(text) for text in correct})


def token_f1(answer: str, correct: Iterable[str]) -> float:
    """SQuAD's token F1: the highest F1 of the answer's words and those of a correct answer."""
    words = normalise_answer(answer).split()
    return max((_word_f1(words, normalise_answer(text).split()) for text in correct), default=0.0)


def _word_f1(predicted: list[str], gold: list[str]) -> float:
    if not predicted or not gold:
        return float(predicted == gold)
    common = (Counter(predicted) & Counter(gold)).total()
    return 2 * common / (len(predicted) + len(gold))


def _score_span(rule: Callable[[str, Iterable[str]], float], result: QuestionResult, span: RankedSpan | None) -> float:
    """`rule` of the span's text; 0 without a span or without a correct answer."""
    if span is None or not result.question.answers:
        return 0.0
    return float(rule(result.text[span.start : span.end], [answer.text for answer in result.question.answers]))


def _mean(values: Iterable[float]) -> float | None:
    known = list(values)
    return fmean(known) if known else None
