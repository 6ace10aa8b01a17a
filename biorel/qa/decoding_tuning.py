"""The choices of decoding, made on dev only: scoring rule, length limit, thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np

from biorel.qa.decoding import SPAN_SCORES, Decoding, rank_spans
from biorel.qa.metrics import MOST_ENTITY_SPANS, QuestionResult, best_spans_with_f1, span_concept

LENGTH_LIMITS = (4, 8, 12, 16, 24)
DEFAULT_THRESHOLD = 0.5


def tune_decoding(results: Sequence[QuestionResult], length_limits: Sequence[int] = LENGTH_LIMITS) -> Decoding:
    """The rule and limit with the highest macro F1 on answerable questions, then the thresholds with the highest F1.

    Ties go to the first rule and the lowest limit.
    """
    answerable = [result for result in results if result.question.answers]
    decodings = [Decoding(rule=rule, longest=limit) for rule in SPAN_SCORES for limit in length_limits]
    if not answerable:
        return decodings[0]
    chosen = max(decodings, key=lambda decoding: fmean(best_spans_with_f1(answerable, decoding)[1]))
    scores, f1 = best_spans_with_f1(results, chosen)
    threshold = best_threshold(scores, f1, len(answerable))
    return replace(chosen, threshold=threshold, entity_threshold=_entity_threshold(results, chosen))


def best_threshold(scores: Sequence[float], credit: Sequence[float], gold: float) -> float:
    """The threshold with the highest F1 = 2 (sum of credit) / (number of predictions + gold).

    It lies midway between two neighbouring scores. Ties go to the highest threshold, which predicts least. Without any
    credit it is `DEFAULT_THRESHOLD`.

    Args:
        scores, credit: of each possible prediction; credit says how correct a prediction is, from 0 to 1.
        gold: number of correct answers.
    """
    if not gold or not len(scores):
        return DEFAULT_THRESHOLD
    order = np.argsort(-np.asarray(scores), kind="stable")
    ordered = np.asarray(scores, dtype=np.float64)[order]
    earned = np.cumsum(np.asarray(credit, dtype=np.float64)[order])
    f1 = 2 * earned / (np.arange(1, len(ordered) + 1) + gold)
    is_last_of_equals = np.append(ordered[1:] < ordered[:-1], True)
    place = int(np.where(is_last_of_equals, f1, -1.0).argmax())
    if f1[place] <= 0:
        return DEFAULT_THRESHOLD
    below = ordered[place + 1] if place + 1 < len(ordered) else 0.0
    middle = float(ordered[place] + below) / 2
    return middle if middle > below else float(ordered[place])


def _entity_threshold(results: Sequence[QuestionResult], decoding: Decoding) -> float:
    """The best threshold over facts (question, concept), each with the score of its best span."""
    scores: list[float] = []
    credit: list[float] = []
    gold = 0
    for result in results:
        if not result.question.entity_id:
            continue
        correct = {span.entity_id for span in result.question.answers} - {""}
        gold += len(correct)
        best: dict[str, float] = {}
        for span in rank_spans(result.candidates, decoding, MOST_ENTITY_SPANS):
            concept = span_concept(span, result.mentions, result.question.answer_type)
            if concept and concept not in result.question.ignored:
                best[concept] = max(best.get(concept, 0.0), span.score)
        scores += best.values()
        credit += [float(concept in correct) for concept in best]
    return best_threshold(scores, credit, gold)
