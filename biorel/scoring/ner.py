"""Strict scoring of entity spans: a span is found when its start, end and type all are (Table 8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from biorel.scoring.metrics import Prf

OUTSIDE = "O"


@dataclass(frozen=True)
class NerMetrics:
    """Micro measures over all spans, and by entity type (every type that the labels name)."""

    overall: Prf
    by_type: Mapping[str, Prf]

    def to_json(self) -> dict[str, Any]:
        return {
            "overall": asdict(self.overall),
            "by_type": {type_: asdict(prf) for type_, prf in self.by_type.items()},
        }


def spans(tags: Sequence[int], labels: Sequence[str]) -> set[tuple[int, int, str]]:
    """The (start, end, type) spans of a BIO tagging, in tokens, half-open.

    `B-` always opens a span. `I-` carries on a span of its own type and otherwise (after `O`, after another
    type, at the start) opens one, so that a tagger's slip costs a boundary and not the entity.

    Args:
        tags: [T] indices into `labels`.
        labels: `O`, and `B-` and `I-` of each type.
    """
    found: set[tuple[int, int, str]] = set()
    start, open_type = 0, ""
    for place, tag in enumerate([*tags, None]):
        prefix, _, type_ = (OUTSIDE if tag is None else labels[tag]).partition("-")
        if prefix == "I" and type_ == open_type:
            continue
        if open_type:
            found.add((start, place, open_type))
        start, open_type = place, type_
    return found


def evaluate_spans(
    gold: Iterable[Sequence[int]], predicted: Iterable[Sequence[int]], labels: Sequence[str]
) -> NerMetrics:
    """Compare taggings document by document; gold tags are read by the same rule as predicted ones.

    Args:
        gold, predicted: per document [T] indices into `labels`.

    Raises:
        ValueError: another number of documents, or of tokens in one of them.
    """
    types = dict.fromkeys(label.partition("-")[2] for label in labels if label != OUTSIDE)
    right: Counter[str] = Counter()
    said: Counter[str] = Counter()
    true: Counter[str] = Counter()
    for gold_tags, predicted_tags in zip(gold, predicted, strict=True):
        if len(gold_tags) != len(predicted_tags):
            raise ValueError(f"{len(predicted_tags)} tags for {len(gold_tags)} tokens")
        truth, answer = spans(gold_tags, labels), spans(predicted_tags, labels)
        right.update(type_ for _, _, type_ in truth & answer)
        said.update(type_ for _, _, type_ in answer)
        true.update(type_ for _, _, type_ in truth)
    return NerMetrics(
        Prf.of(right.total(), said.total(), true.total()),
        {type_: Prf.of(right[type_], said[type_], true[type_]) for type_ in types},
    )
