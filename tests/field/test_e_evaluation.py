"""E: undefined figures, thresholds, repeated rows, the negative class, ties."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from biorel.commands import evaluate
from biorel.config.evaluate import Evaluate
from biorel.errors import ModelError
from biorel.records import Pair, Score
from biorel.scoring.curves import precision_recall
from biorel.scoring.metrics import evaluate as measured
from biorel.scoring.metrics import predict_every_pair
from biorel.scoring.pairs import ScoredPair
from biorel.scoring.thresholds import FALLBACK, tune
from biorel.tables import read_table
from tests.command_runs import build, pubtator, read_json

LABELS = ("one", "two", "three")


def scored(*rows: tuple[str, float], label: str = "one") -> list[ScoredPair]:
    """Pairs of one document with the probability of `label`; an empty relation is NULL."""
    place = LABELS.index(label)
    return [
        ScoredPair(
            Pair("1", f"MESH:{number}", "Chemical", "MESH:T", "Disease", (relation,) if relation else ()),
            tuple(value if index == place else 0.0 for index in range(3)),
            0,
        )
        for number, (relation, value) in enumerate(rows)
    ]


@pytest.mark.parametrize("facts", [("one", "two"), ("one",), ()], ids=["one absent", "two absent", "none at all"])
def test_e_01_undefined_figures_are_null_and_left_out_of_the_macro_average(facts):
    rows = scored(*((fact, 0.9) for fact in facts), ("", 0.2))
    limits = dict.fromkeys(LABELS, 0.5)
    found = measured(rows, LABELS, limits)
    for label in LABELS:
        assert found.by_relation[label].gold == (label in facts)
        assert (found.by_relation[label].f1 is None) == (label not in facts)
    if not facts:
        assert (found.micro.f1, found.macro.f1, found.f1_of_means) == (None, None, None)
    else:
        defined = [found.by_relation[label].f1 for label in facts]
        assert found.macro.f1 == sum(defined) / len(defined)
    text = json.dumps(found.to_json(), allow_nan=False)
    assert json.loads(text, parse_constant=pytest.fail)
    empty = {point.relation: point for point in precision_recall(rows, LABELS)}
    assert all((empty[label].average_precision is None) == (label not in facts) for label in LABELS)


def test_e_01_tunes_no_threshold_for_a_relation_without_gold_facts():
    assert tune(scored(("", 0.9), ("", 0.1)), LABELS) == dict.fromkeys(LABELS, FALLBACK)


@pytest.fixture
def evaluated(model: Path, dataset: Path, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """metrics.json of the model with this threshold, on the split."""

    def _evaluated(name: str, threshold: float | None = None, split: str = "test") -> dict[str, Any]:
        folder = tmp_path / name
        shutil.copytree(model, folder)
        if threshold is not None:
            limits = dict.fromkeys(read_json(model / "thresholds.json"), threshold)
            (folder / "thresholds.json").write_text(json.dumps(limits))
        given = {"model": folder, "dataset": dataset, "split": split, "out": tmp_path / f"{name}-e", "plots": False}
        evaluate.run(Evaluate.model_validate(given))
        return read_json(tmp_path / f"{name}-e" / "metrics.json")

    return _evaluated


def test_e_03_uses_the_dev_threshold_on_test():
    dev = scored(("one", 0.4), ("one", 0.35), ("", 0.25), ("", 0.2))
    test = scored(("one", 0.9), ("one", 0.75), ("", 0.65), ("", 0.1))
    limits = tune(dev, LABELS)
    assert limits["one"] == pytest.approx(0.3)
    found = measured(test, LABELS, limits).micro
    assert (found.true_positives, found.predicted, found.gold) == (2, 3, 2)
    assert tune(test, LABELS)["one"] == pytest.approx(0.7)


@pytest.mark.parametrize("threshold", [0.0, 1.01])
def test_e_03_evaluate_uses_the_thresholds_of_the_model(evaluated, dataset, threshold):
    usable = [pair for pair in read_table(dataset / "test" / "pairs.parquet", Pair) if not pair.excluded_because]
    assert evaluated("m", threshold)["micro"]["predicted"] == (len(usable) if threshold == 0 else 0)


def test_e_03_rejects_a_label_without_a_threshold():
    with pytest.raises(ModelError, match="no threshold for two, three"):
        measured(scored(("one", 0.9)), LABELS, {"one": 0.5})


CDR = "chemical_induced_disease"
MARKS = [("Zetin", "Chemical", "D900001"), ("tremor", "Disease", "D900002"), ("ataxia", "Disease", "D900003")]


def fact(tail: str, head: str = "MESH:D900001", relation: str = CDR) -> str:
    return json.dumps({"doc_id": "1", "head": {"id": head}, "relation": relation, "tail": {"id": tail}})


def compared(tmp_path: Path, write: Callable[..., Path], gold: str, rows: list[str], **options: Any) -> dict[str, Any]:
    given = {"predictions": write("p.jsonl", "\n".join(rows) + "\n"), "gold": [write("g.txt", gold)], **options}
    evaluate.run(Evaluate.model_validate(given | {"out": tmp_path / "e"}))
    return read_json(tmp_path / "e" / "metrics.json")


GOLD = pubtator("1", "Zetin.", "tremor, ataxia.", MARKS, [("D900001", "D900002"), ("D900001", "D900003")])


@pytest.mark.parametrize("malformed", [fact(""), '{"doc_id": "1", "head"', fact("-"), '{"head": 1, "tail": 2}'])
def test_e_04_counts_repeated_rows_once_and_malformed_rows_separately(write, tmp_path, malformed):
    found = compared(tmp_path, write, GOLD, [fact("MESH:D900002")] * 3 + [malformed])
    micro = found["micro"]
    assert (micro["true_positives"], micro["predicted"], micro["gold"], micro["recall"]) == (1, 1, 2, 0.5)
    assert (found["rows"]["repeated"], found["rows"]["malformed"]) == (2, 1)


def test_e_04_recall_is_at_most_one(write, tmp_path):
    rows = [fact(tail, head) for tail in ("D900002", "mesh:d900003") for head in ("D900001", "MESH:D900001")]
    assert compared(tmp_path, write, GOLD, rows)["micro"]["recall"] == 1.0


@pytest.mark.parametrize("word", ["no_relation", "NA", "None", "1:NR:2", "No-Relation"])
def test_e_05_does_not_score_the_negative_class(write, tmp_path, word):
    marks = [("Zetin", "Chemical", "D900001"), *((f"d{n}x", "Disease", f"D80{n:04}") for n in range(100))]
    gold = pubtator("1", "Zetin.", " ".join(name for name, _, _ in marks[1:]), marks, [("D900001", "D800000")])
    gold = gold.rstrip() + "\n1\tCID\tD900001\tD800001\n"
    gold += "".join(f"1\t{word}\tD900001\tD80{n:04}\n" for n in range(2, 100))
    rows = [fact(f"MESH:D80{n:04}", relation=word) for n in range(100)]
    found = compared(tmp_path, write, gold, rows)
    micro = found["micro"]
    assert (micro["f1"], micro["gold"], micro["predicted"]) == (0.0, 2, 0)
    assert list(found["by_relation"]) == [CDR]


@pytest.mark.parametrize("format_", ["pubtator", "jsonl"])
def test_e_05_a_pair_listed_as_unrelated_is_a_negative_example(write, tmp_path, format_):
    gold = GOLD.replace("1\tCID\tD900001\tD900003", "1\tNR\tD900001\tD900003")
    if format_ == "jsonl":
        text = "Zetin. tremor, ataxia."
        spans = [(name, text.index(name), type_, id_) for name, type_, id_ in MARKS]
        row = {
            "id": "1",
            "text": text,
            "entities": [
                {"start": at, "end": at + len(name), "type": kind, "id": id_} for name, at, kind, id_ in spans
            ],
            "relations": [
                {"head": "D900001", "relation": "CID", "tail": "D900002"},
                {"head": "D900001", "relation": "NR", "tail": "D900003"},
            ],
        }
        gold = json.dumps(row) + "\n"
    stats = build(tmp_path / "d", train=[write(f"g.{format_}", gold)], schema="cdr")
    assert (stats["total"]["positives"], stats["total"]["negatives"]) == (1, 1)
    assert stats["total"]["only_dropped_relations"] == 0


@pytest.mark.parametrize("facts", [("one", "", "", ""), ("", "", "", "one"), ("", "one", "", "")])
def test_e_06_tied_scores_give_one_point_in_any_order(facts):
    points = [
        point for point in precision_recall(scored(*((fact, 0.5) for fact in facts)), LABELS) if point.relation == "one"
    ]
    assert [(point.average_precision, point.precision, point.recall) for point in points] == [(0.25, 0.25, 1.0)]


@pytest.mark.parametrize("order", [1, -1])
def test_e_06_accepts_or_rejects_tied_pairs_together(order):
    rows = scored(*[("one", 0.5), ("", 0.5), ("one", 0.8), ("", 0.1)][::order])
    found = measured(rows, LABELS, tune(rows, LABELS)).micro
    assert (found.true_positives, found.predicted) in {(2, 3), (1, 1)}
    baseline = predict_every_pair(rows, LABELS).micro
    assert (baseline.true_positives, baseline.predicted, baseline.precision) == (2, 4, 0.5)


def test_e_03_scores_do_not_depend_on_thresholds(evaluated, tmp_path):
    for name, threshold in (("a", 0.1), ("b", 0.9)):
        evaluated(name, threshold)
    first, second = (list(read_table(tmp_path / f"{name}-e" / "scores.parquet", Score)) for name in "ab")
    assert first == second
