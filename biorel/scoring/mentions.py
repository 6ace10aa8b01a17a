"""Scoring of mentions by character spans: strict (same start, end and type) and overlap (same type, shared characters).

A mention of several concepts is one span. Spans are compared within one document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from biorel.records import Mention
from biorel.scoring.metrics import Prf

OVERALL = "overall"
Span = tuple[int, int]


@dataclass
class MentionScore:
    """Numbers of spans, by type, over the documents added so far."""

    strict_correct: Counter[str]
    overlap_correct: Counter[str]
    predicted: Counter[str]
    gold: Counter[str]

    @classmethod
    def empty(cls) -> MentionScore:
        return cls(Counter(), Counter(), Counter(), Counter())

    def add(self, gold: Iterable[Mention], predicted: Iterable[Mention]) -> None:
        """Count one document."""
        expected, answered = _spans(gold), _spans(predicted)
        for type_ in expected.keys() | answered.keys():
            gold_spans, predicted_spans = expected.get(type_, []), answered.get(type_, [])
            self.gold[type_] += len(gold_spans)
            self.predicted[type_] += len(predicted_spans)
            self.strict_correct[type_] += len(set(gold_spans) & set(predicted_spans))
            self.overlap_correct[type_] += overlaps(gold_spans, predicted_spans)

    def to_json(self) -> dict[str, Any]:
        """`{"strict": {type: measures}, "overlap": {...}}`, types in alphabetical order, then `overall`."""
        return {
            "strict": by_type(self.strict_correct, self.predicted, self.gold),
            "overlap": by_type(self.overlap_correct, self.predicted, self.gold),
        }


def by_type(correct: Counter[str], predicted: Counter[str], gold: Counter[str]) -> dict[str, Any]:
    """Measures of each type that occurs, and micro measures over all of them."""
    types = sorted(predicted.keys() | gold.keys())
    rows = {type_: asdict(Prf.of(correct[type_], predicted[type_], gold[type_])) for type_ in types}
    return rows | {OVERALL: asdict(Prf.of(correct.total(), predicted.total(), gold.total()))}


def overlaps(gold: Sequence[Span], predicted: Sequence[Span]) -> int:
    """The number of (gold, predicted) span pairs that share a character, with each span in at most one pair.

    If the spans of each list do not overlap each other, this is the largest possible number.

    Args:
        gold, predicted: sorted spans.
    """
    pairs, place = 0, 0
    for start, end in predicted:
        while place < len(gold) and gold[place][1] <= start:
            place += 1
        if place < len(gold) and gold[place][0] < end:
            pairs += 1
            place += 1
    return pairs


def _spans(mentions: Iterable[Mention]) -> dict[str, list[Span]]:
    """The distinct spans of each type, sorted."""
    spans_of: dict[str, set[Span]] = {}
    for mention in mentions:
        spans_of.setdefault(mention.type, set()).add((mention.start, mention.end))
    return {type_: sorted(spans) for type_, spans in spans_of.items()}
