"""The choices of decoding, made on dev and on nothing else: rule, length limit, thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np

from biorel.qa.decoding import RULES, Decoding, ranked
from biorel.qa.metrics import MOST_ENTITIES, Judged, concept, overlaps

LONGEST = (4, 8, 12, 16, 24)
FALLBACK = 0.5


def tune(judged: Sequence[Judged], longest: Sequence[int] = LONGEST) -> Decoding:
    """The decoding with the highest macro F1 on answerable questions, then the thresholds with the highest F1.

    Of equally good rules the first is taken, of equally good lengths the shortest.
    """
    answerable = [one for one in judged if one.question.answers]
    choices = [Decoding(rule=rule, longest=limit) for rule in RULES for limit in longest]
    if not answerable:
        return choices[0]
    chosen = max(choices, key=lambda choice: fmean(overlaps(answerable, choice)["overlap"]))
    told = overlaps(judged, chosen)
    threshold = cut(told["score"], told["overlap"], len(answerable))
    return replace(chosen, threshold=threshold, entity_threshold=_entity_threshold(judged, chosen))


def cut(scored: Sequence[float], earned: Sequence[float], gold: float) -> float:
    """The threshold with the highest F1 = 2 sum of what is earned / (number told + gold).

    It lies midway between two neighbouring scores. Of equally good ones the highest, which tells the least.
    """
    if not gold or not len(scored):
        return FALLBACK
    order = np.argsort(-np.asarray(scored), kind="stable")
    values = np.asarray(scored, dtype=np.float64)[order]
    earnings = np.cumsum(np.asarray(earned, dtype=np.float64)[order])
    f1 = 2 * earnings / (np.arange(1, len(values) + 1) + gold)
    last_of_equals = np.append(values[1:] < values[:-1], True)
    place = int(np.where(last_of_equals, f1, -1.0).argmax())
    if f1[place] <= 0:
        return FALLBACK
    below = values[place + 1] if place + 1 < len(values) else 0.0
    middle = float(values[place] + below) / 2
    return middle if middle > below else float(values[place])


def _entity_threshold(judged: Sequence[Judged], decoding: Decoding) -> float:
    """The same over entities: of a question's spans with one concept the best counts."""
    scored: list[float] = []
    earned: list[float] = []
    gold = 0
    for one in judged:
        if not one.question.entity_id:
            continue
        right = {span.entity_id for span in one.question.answers} - {""}
        gold += len(right)
        best: dict[str, float] = {}
        for span in ranked(one.candidates, decoding, MOST_ENTITIES):
            id_ = concept(span, one.mentions, one.question.answer_type)
            if id_ and id_ not in one.question.ignored:
                best[id_] = max(best.get(id_, 0.0), span.score)
        scored += best.values()
        earned += [float(id_ in right) for id_ in best]
    return cut(scored, earned, gold)
