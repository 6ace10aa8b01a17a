"""train, evaluate and extract with --graph: triples reach the network, those of the evaluated articles do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from biorel.commands import build_graph, evaluate, extract
from biorel.config.build_graph import BuildGraph
from biorel.config.evaluate import Evaluate
from biorel.config.extract import Extract
from biorel.counts import Reason
from biorel.dataset.pair_features import FEATURES
from biorel.errors import InputError, ModelError
from biorel.knowledge.support import GRAPH_FEATURES
from biorel.training.model_folder import open_model
from tests.command_runs import SAMPLE, read_json, read_json_lines, tiny_model


def build(out: Path, **options: Any) -> Path:
    return build_graph.run(
        BuildGraph.model_validate({"out": out, "mesh": [SAMPLE / "mesh.tsv"], "ctd": [SAMPLE / "ctd"], **options})
    ).path


@pytest.fixture(scope="module")
def graph(dataset, tmp_path_factory) -> Path:
    return build(tmp_path_factory.mktemp("graph") / "graph", exclude_dataset=dataset)


@pytest.fixture(scope="module")
def knowing(dataset, graph, tmp_path_factory) -> Path:
    """A model trained with the graph."""
    return tiny_model(dataset, tmp_path_factory.mktemp("knowing") / "model", graph=graph, branches=3)


def scores(model: Path, dataset: Path, out: Path, **options: Any) -> tuple[dict[str, Any], str]:
    """Evaluate; metrics.json and report.md."""
    given = {"model": model, "dataset": dataset, "out": out, "plots": False, **options}
    evaluate.run(Evaluate.model_validate(given))
    return read_json(out / "metrics.json"), (out / "report.md").read_text()


def extracted(model: Path, out: Path, **options: Any) -> extract.Summary:
    given = {"input": SAMPLE / "abstracts.jsonl", "model": model, "out": out, "all_scores": True, **options}
    return extract.run(Extract.model_validate(given))


def relations(model: Path, out: Path, **options: Any) -> list[dict[str, Any]]:
    extracted(model, out, **options)
    return read_json_lines(out)


def test_a_model_saves_its_knowledge_options(knowing):
    sizes = open_model(knowing).model.config
    assert (sizes.branches, sizes.soft_positions, sizes.visible_matrix) == (3, True, True)
    assert read_json(knowing / "manifest.json")["counts"][Reason.KNOWLEDGE_BRANCHES] > 10


def test_knowledge_changes_the_scores_and_is_reported(knowing, dataset, graph, tmp_path):
    with_it, report = scores(knowing, dataset, tmp_path / "with", graph=graph)
    without, _ = scores(knowing, dataset, tmp_path / "without")
    assert with_it["protocol"]["knowledge"].startswith("EXTERNAL")
    assert without["protocol"]["knowledge"] == "none, though the model was trained with a graph"
    assert (tmp_path / "with" / "scores.parquet").read_bytes() != (tmp_path / "without" / "scores.parquet").read_bytes()
    assert with_it["ner"] == without["ner"]
    assert set(with_it["by_graph"]) == {
        "every pair that the graph has from 1 article or more",
        "every pair that the graph has from 2 articles or more",
    }
    assert "every pair that the graph has from 1 article or more, filter on" in report


def test_evaluate_refuses_a_graph_of_the_evaluated_articles(knowing, dataset, tmp_path):
    whole = build(tmp_path / "whole")
    with pytest.raises(InputError, match=r"curated from \d+ of the 2 test articles"):
        scores(knowing, dataset, tmp_path / "evaluation", graph=whole)
    assert not (tmp_path / "evaluation").exists()


def test_a_model_trained_without_a_graph_rejects_one(model, dataset, graph, tmp_path):
    with pytest.raises(ModelError, match="trained without a graph"):
        scores(model, dataset, tmp_path / "evaluation", graph=graph)


@pytest.mark.slow
def test_extract_reads_with_the_graph(knowing, graph, tmp_path):
    with_it = relations(knowing, tmp_path / "with.jsonl", graph=graph)
    without = relations(knowing, tmp_path / "without.jsonl")
    keys = [
        sorted((one["doc_id"], one["head"]["id"], one["tail"]["id"], one["relation"]) for one in found)
        for found in (with_it, without)
    ]
    assert keys[0] == keys[1]
    assert with_it != without


@pytest.mark.slow
def test_extract_reports_a_missing_graph(knowing, model, graph, tmp_path):
    reason = Reason.DOCUMENTS_WITHOUT_GRAPH
    assert extracted(knowing, tmp_path / "without.jsonl").details["counts"][reason] == 48
    assert reason not in extracted(knowing, tmp_path / "with.jsonl", graph=graph).details["counts"]
    assert reason not in extracted(model, tmp_path / "plain.jsonl").details["counts"]


def test_rejects_a_folder_that_is_not_a_graph(knowing, dataset, tmp_path):
    with pytest.raises(InputError, match=r"not a graph \(triples\.parquet is missing\)"):
        scores(knowing, dataset, tmp_path / "evaluation", graph=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("branches", "graph_features"), [(0, True), (2, False)])
def test_each_kind_of_knowledge_works_alone(dataset, graph, tmp_path, branches, graph_features):
    options = {"graph": graph, "branches": branches, "graph_features": graph_features}
    model = tiny_model(dataset, tmp_path / "model", **options)
    sizes = open_model(model).model.config
    assert sizes.pair_features == len(FEATURES) + graph_features * len(GRAPH_FEATURES)
    with_it, without = (
        relations(model, tmp_path / name, **given) for name, given in (("a.jsonl", {"graph": graph}), ("b.jsonl", {}))
    )
    assert len(with_it) == len(without)
    assert with_it != without


def test_rejects_branches_without_a_graph(dataset, tmp_path):
    with pytest.raises(ValueError, match="--branches needs --graph"):
        tiny_model(dataset, tmp_path / "model", branches=2)


@pytest.mark.parametrize("options", [{"graph_features": False}, {"pair_features": False}, {"task": "ner"}])
def test_rejects_a_graph_that_would_have_no_effect(dataset, graph, tmp_path, options):
    with pytest.raises(ValueError, match="brings no knowledge"):
        tiny_model(dataset, tmp_path / "model", graph=graph, rerank=False, **options)
