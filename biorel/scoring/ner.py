"""Strict scoring of entity spans: a span is correct if its start, end and type all are (Table 8 of the BRAN paper)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from biorel.dataset.labels import OUTSIDE, bio_spans
from biorel.scoring.metrics import Prf


@dataclass(frozen=True)
class NerMetrics:
    """Micro measures over all spans, and the measures of every entity type in the labels."""

    overall: Prf
    by_type: Mapping[str, Prf]

    def to_json(self) -> dict[str, Any]:
        return {
            "overall": asdict(self.overall),
            "by_type": {type_: asdict(prf) for type_, prf in self.by_type.items()},
        }


def evaluate_spans(
    gold: Iterable[Sequence[int]], predicted: Iterable[Sequence[int]], labels: Sequence[str]
) -> NerMetrics:
    """Compare BIO tags document by document; gold and predicted tags are decoded by the same rule.

    Args:
        gold, predicted: for each document [T] indices into `labels`.
        labels: see `dataset.labels.ner_labels`.

    Raises:
        ValueError: the numbers of documents, or of tokens in a document, differ.
    """
    types = dict.fromkeys(label.partition("-")[2] for label in labels if label != OUTSIDE)
    correct: Counter[str] = Counter()
    predictions: Counter[str] = Counter()
    gold_spans: Counter[str] = Counter()
    for gold_tags, predicted_tags in zip(gold, predicted, strict=True):
        if len(gold_tags) != len(predicted_tags):
            raise ValueError(f"{len(predicted_tags)} tags for {len(gold_tags)} tokens")
        expected, answered = set(bio_spans(gold_tags, labels)), set(bio_spans(predicted_tags, labels))
        correct.update(type_ for _, _, type_ in expected & answered)
        predictions.update(type_ for _, _, type_ in answered)
        gold_spans.update(type_ for _, _, type_ in expected)
    return NerMetrics(
        Prf.of(correct.total(), predictions.total(), gold_spans.total()),
        {type_: Prf.of(correct[type_], predictions[type_], gold_spans[type_]) for type_ in types},
    )
