"""evaluate --predictions: relations, mentions and concepts against gold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from biorel.commands import evaluate
from biorel.config import load
from biorel.config.evaluate import Evaluate
from biorel.errors import ConfigError, InputError
from biorel.records import Entity, Mention, Relation
from biorel.tables import write_table
from tests.command_runs import pubtator, read_json

LABEL = "chemical_induced_disease"


@pytest.fixture
def gold(write) -> Path:
    mentions = [
        ("Drug", "Chemical", "D900001"),
        ("lung cancer", "Disease", "D900002"),
        ("pain", "Disease", "D900003|D900004"),
    ]
    return write(
        "gold.txt",
        pubtator(
            "1", "Drug gives lung cancer.", "And pain.", mentions, [("D900001", "D900002"), ("D900001", "D900003")]
        )
        + pubtator("2", "Nothing.", "Here."),
    )


@pytest.fixture
def tree(write) -> Path:
    rows = ("C04\tD000009\tNeoplasms", "C04.100\tD000002\tLung Neoplasms", "C23\tD000003\tPain")
    return write("tree.tsv", "\n".join(("Tree Number\tDesc Ui\tTerm", *rows)) + "\n")


def row(tail: str, head: str = "MESH:D900001", doc_id: str = "1", relation: str = LABEL) -> str:
    return json.dumps({"doc_id": doc_id, "head": {"id": head}, "relation": relation, "tail": {"id": tail}})


def score(tmp_path: Path, predictions: Path, gold: Path, **options: Any) -> dict[str, Any]:
    out = tmp_path / "scores"
    given = {"predictions": predictions, "gold": (gold,), "out": out, "force": True, **options}
    evaluate.run(Evaluate.model_validate(given))
    assert (out / "report.md").is_file()
    metrics: dict[str, Any] = read_json(out / "metrics.json")
    return metrics


def test_p09_ids_are_normalised_and_relation_terms_mapped_by_the_schema(tmp_path, write, gold):
    lines = [row("D900002", head="mesh:d900001", relation="CID"), row("MESH:D900003")]
    assert score(tmp_path, write("p.jsonl", "\n".join(lines)), gold)["micro"]["f1"] == 1.0


def test_the_filter_leaves_out_a_predicted_hypernym_of_a_gold_tail(tmp_path, write, tree):
    corpus = write(
        "g.txt",
        pubtator(
            "1",
            "Drug gives lung cancer.",
            "x",
            [("Drug", "Chemical", "D000001"), ("lung cancer", "Disease", "D000002")],
            [("D000001", "D000002")],
        ),
    )
    tails = ("MESH:D000002", "MESH:D000009", "MESH:D000003")
    lines = [row(tail, head="MESH:D000001") for tail in tails]
    metrics = score(tmp_path, write("p.jsonl", "\n".join(lines)), corpus, mesh=(tree,))
    assert metrics["unfiltered"]["micro"]["predicted"] == 3
    assert metrics["filtered"]["micro"]["predicted"] == 2
    assert metrics["micro"] == metrics["unfiltered"]["micro"]
    assert metrics["micro"]["true_positives"] == 1


def test_predictions_outside_gold_are_ignored_and_missing_ones_lower_recall(tmp_path, write, gold):
    metrics = score(tmp_path, write("p.jsonl", row("MESH:D900002", doc_id="77") + "\n" + row("MESH:D900002")), gold)
    assert metrics["rows"]["of_other_documents"] == 1
    assert metrics["micro"]["predicted"] == 1
    assert metrics["micro"]["recall"] == 0.5


def test_an_empty_file_of_predictions_is_scored(tmp_path, write, gold):
    metrics = score(tmp_path, write("p.jsonl", ""), gold)
    assert (metrics["micro"]["precision"], metrics["micro"]["f1"]) == (None, 0.0)


def test_reads_a_relations_table(tmp_path, gold):
    path = tmp_path / "r.parquet"
    ends = Entity("MESH:D900001", "Chemical", "Drug"), Entity("MESH:D900002", "Disease", "lung cancer")
    write_table(path, Relation, [Relation("1", ends[0], LABEL, ends[1], 0.9, ())])
    assert score(tmp_path, path, gold)["micro"]["true_positives"] == 1


def test_mentions_are_scored_by_strict_spans_by_overlap_and_by_concept(tmp_path, write, gold):
    predicted = [
        ("Drug", "Chemical", "D900001"),
        ("cancer", "Disease", "D900002"),
        ("pain", "Disease", "D900004"),
        ("And", "Disease", "-"),
    ]
    metrics = score(tmp_path, write("p.txt", pubtator("1", "Drug gives lung cancer.", "And pain.", predicted)), gold)
    assert "micro" not in metrics
    strict, overlap = (metrics["mentions"][kind]["Disease"] for kind in ("strict", "overlap"))
    assert (strict["true_positives"], strict["predicted"], strict["gold"]) == (1, 3, 2)
    assert (overlap["true_positives"], overlap["predicted"], overlap["gold"]) == (2, 3, 2)
    assert metrics["concepts"]["Disease"]["true_positives"] == 2
    assert metrics["concepts"]["Disease"]["gold"] == 3
    assert metrics["concepts"]["Chemical"]["f1"] == 1.0


def test_reads_a_mentions_table_or_the_folder_that_contains_it(tmp_path, gold):
    folder = tmp_path / "tagged"
    folder.mkdir()
    write_table(folder / "mentions.parquet", Mention, [Mention("1", 0, 4, "Drug", "Chemical", None)])
    for path in (folder, folder / "mentions.parquet"):
        metrics = score(tmp_path, path, gold)
        assert metrics["mentions"]["strict"]["Chemical"]["f1"] == 1.0
        assert metrics["concepts"]["Chemical"]["predicted"] == 0


def test_overlap_matches_each_span_once(tmp_path, write, gold):
    predicted = [("lung", "Disease", "D900002"), ("cancer", "Disease", "D900002")]
    metrics = score(tmp_path, write("p.txt", pubtator("1", "Drug gives lung cancer.", "And pain.", predicted)), gold)
    assert metrics["mentions"]["overlap"]["Disease"]["true_positives"] == 1


def test_rejects_predictions_without_a_label_of_gold(tmp_path, write, gold):
    with pytest.raises(InputError, match="other_label"):
        score(tmp_path, write("p.jsonl", row("MESH:D900002", relation="other_label")), gold)
    with pytest.raises(InputError, match="the file has no relations"):
        score(tmp_path, write("q.jsonl", '{"head": 1, "tail": 2}\n'), gold)


@pytest.mark.parametrize(
    "flags",
    [
        {},
        {"model": "m"},
        {"predictions": "p"},
        {"gold": ["g"]},
        {"model": "m", "dataset": "d", "predictions": "p", "gold": ["g"]},
        {"model": "m", "dataset": "d", "mesh": ["t"]},
    ],
)
def test_requires_either_a_model_or_predictions(flags):
    with pytest.raises(ConfigError, match="--"):
        load(Evaluate, {"out": "o", **flags})
