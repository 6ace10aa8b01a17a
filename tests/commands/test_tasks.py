"""train --task triage and --task ner: training, evaluation and faults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from biorel.commands import build_graph, evaluate, extract
from biorel.config.build_graph import BuildGraph
from biorel.config.evaluate import Evaluate
from biorel.config.extract import Extract
from biorel.errors import InputError, ModelError
from biorel.training.model_folder import open_model
from tests.command_runs import SAMPLE, pubtator, read_json, sample_dataset, tiny_model
from tests.command_runs import build as build_dataset

CHEMICALS, DISEASES = ("aspirin", "cocaine", "lithium", "heparin"), ("asthma", "tremor", "nausea", "pain")


@pytest.fixture(scope="module")
def sorted_documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset in which every second document states a relation, which one word of its text shows."""
    folder = tmp_path_factory.mktemp("triage")
    for split, begin, count in (("train", 0, 24), ("dev", 100, 8), ("test", 200, 8)):
        text = ""
        for number in range(begin, begin + count):
            chemical, disease = CHEMICALS[number // 2 % 4], DISEASES[number // 4 % 4]
            positive = number % 2 == 0
            text += pubtator(
                str(number + 1),
                f"On {chemical}.",
                f"Here {chemical} {'induced' if positive else 'treated'} {disease}.",
                [(chemical, "Chemical", f"D00000{number // 2 % 4}"), (disease, "Disease", f"D0001{number // 4 % 4}0")],
                [(f"D00000{number // 2 % 4}", f"D0001{number // 4 % 4}0")] if positive else [],
            )
        (folder / f"{split}.txt").write_text(text)
    build_dataset(
        folder / "dataset", schema="cdr", **{name: [folder / f"{name}.txt"] for name in ("train", "dev", "test")}
    )
    return folder / "dataset"


def measured(model: Path, dataset: Path, out: Path, **options: Any) -> dict[str, Any]:
    evaluate.run(Evaluate.model_validate({"model": model, "dataset": dataset, "out": out, **options}))
    metrics: dict[str, Any] = read_json(out / "metrics.json")
    return metrics


@pytest.mark.slow
def test_triage_learns_which_documents_state_a_relation(sorted_documents, tmp_path):
    model = tiny_model(sorted_documents, tmp_path / "model", task="triage", epochs=30, token_budget=100, ema=0.5)
    metrics = measured(model, sorted_documents, tmp_path / "evaluation")
    assert metrics["share_of_positives"] == 0.5
    assert metrics["average_precision"] > 0.9
    assert set(metrics["scores"]) == {str(number) for number in range(201, 209)}
    trained = read_json(model / "metrics.json")
    assert trained["measure"] == "average precision"
    assert "average precision" in (model / "README.md").read_text()
    assert "average precision" in (tmp_path / "evaluation" / "report.md").read_text()


def test_extraction_rejects_a_model_for_triage(sorted_documents, tmp_path):
    model = tiny_model(sorted_documents, tmp_path / "model", task="triage", epochs=1)
    with pytest.raises(ModelError, match="trained for triage"):
        extract.run(Extract(input=SAMPLE / "abstracts.jsonl", model=model, out=tmp_path / "relations.jsonl"))


def test_triage_rejects_documents_of_one_kind(tmp_path):
    dataset = sample_dataset(tmp_path)
    with pytest.raises(InputError, match="10 of the 10 train documents state a relation"):
        tiny_model(dataset, tmp_path / "model", task="triage")


def test_entity_spans_can_be_trained_with_branches_attached_to_names(dataset, tmp_path):
    given = {"mesh": [SAMPLE / "mesh.tsv"], "out": tmp_path / "graph"}
    graph = build_graph.run(BuildGraph.model_validate(given)).path
    model = tiny_model(dataset, tmp_path / "model", task="ner", graph=graph, branches=2, epochs=3)
    assert open_model(model).model.config.task == "ner"
    metrics = measured(model, dataset, tmp_path / "evaluation", graph=graph)
    assert metrics["task"] == "ner"
    assert metrics["ner"]["overall"]["gold"] > 10
    assert "average_precision" not in metrics
    history = read_json(model / "metrics.json")
    assert history["measure"] == "entity F1"
