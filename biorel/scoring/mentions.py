"""Scoring of mentions by their characters: strict (start, end and type agree) and overlap (type agrees, spans touch).

A mention with several concepts is one span. Spans are compared within one document.
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
    """Counts over documents; `strict` and `overlap` turn them into measures by type and overall."""

    strict_right: Counter[str]
    overlap_right: Counter[str]
    predicted: Counter[str]
    gold: Counter[str]

    @classmethod
    def empty(cls) -> MentionScore:
        return cls(Counter(), Counter(), Counter(), Counter())

    def add(self, gold: Iterable[Mention], predicted: Iterable[Mention]) -> None:
        """Count one document."""
        true, said = _spans(gold), _spans(predicted)
        for type_ in true.keys() | said.keys():
            truth, answer = true.get(type_, []), said.get(type_, [])
            self.gold[type_] += len(truth)
            self.predicted[type_] += len(answer)
            self.strict_right[type_] += len(set(truth) & set(answer))
            self.overlap_right[type_] += overlaps(truth, answer)

    def to_json(self) -> dict[str, Any]:
        """`{"strict": {type: measures}, "overlap": {...}}`, types in alphabetical order, `overall` last."""
        return {
            "strict": by_type(self.strict_right, self.predicted, self.gold),
            "overlap": by_type(self.overlap_right, self.predicted, self.gold),
        }


def by_type(right: Counter[str], predicted: Counter[str], gold: Counter[str]) -> dict[str, Any]:
    """Measures of each type that occurs, and micro measures over all of them."""
    types = sorted(predicted.keys() | gold.keys())
    rows = {type_: asdict(Prf.of(right[type_], predicted[type_], gold[type_])) for type_ in types}
    return rows | {OVERALL: asdict(Prf.of(right.total(), predicted.total(), gold.total()))}


def overlaps(gold: Sequence[Span], predicted: Sequence[Span]) -> int:
    """The number of pairs of spans that share a character, each span in one pair at most.

    Args:
        gold, predicted: sorted. Where spans of one list do not overlap each other, no pairing has more pairs.
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
    """The spans of each type, sorted, once each."""
    found: dict[str, set[Span]] = {}
    for mention in mentions:
        found.setdefault(mention.type, set()).add((mention.start, mention.end))
    return {type_: sorted(spans) for type_, spans in found.items()}
