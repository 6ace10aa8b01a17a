"""Strict scoring of BIO tags."""

from __future__ import annotations

import json

import pytest

from biorel.scoring.metrics import Prf
from biorel.scoring.ner import evaluate_spans

LABELS = ("O", "B-Chemical", "I-Chemical", "B-Disease", "I-Disease")
OUT, BC, IC, BD, ID = range(5)


def test_a_span_is_correct_if_start_end_and_type_agree() -> None:
    gold = [[BC, IC, OUT, BD], [BC, OUT]]
    predicted = [[BC, OUT, OUT, BD], [BD, OUT]]  # a wrong end, a correct span, a wrong type
    metrics = evaluate_spans(gold, predicted, LABELS)
    assert metrics.overall == Prf.of(1, 3, 3)
    assert metrics.by_type == {"Chemical": Prf.of(0, 1, 2), "Disease": Prf.of(1, 2, 1)}


def test_e01_measures_of_a_type_without_gold_spans_are_null() -> None:
    metrics = evaluate_spans([[BC, OUT]], [[BC, OUT]], LABELS)
    assert metrics.by_type["Disease"] == Prf(None, None, None, 0, 0, 0)
    assert json.loads(json.dumps(metrics.to_json(), allow_nan=False))["by_type"]["Disease"]["f1"] is None


def test_taggings_of_different_lengths_are_rejected() -> None:
    with pytest.raises(ValueError, match="1 tags for 2 tokens"):
        evaluate_spans([[OUT, OUT]], [[OUT]], LABELS)
    with pytest.raises(ValueError, match="shorter"):
        evaluate_spans([[OUT], [OUT]], [[OUT]], LABELS)
