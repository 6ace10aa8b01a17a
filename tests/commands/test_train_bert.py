"""biorel train --encoder hf:FOLDER: the BERT's vocabulary, a knowledge graph, and work without a network."""

from __future__ import annotations

from pathlib import Path

import pytest

from biorel.commands import build_graph, evaluate, extract
from biorel.config.build_graph import BuildGraph
from biorel.config.evaluate import Evaluate
from biorel.config.extract import Extract
from biorel.counts import Reason
from biorel.errors import ModelError
from biorel.training.model_folder import open_model
from biorel.training.optim import build_optimizer, layer_share
from tests.bert import tiny_bert
from tests.command_runs import SAMPLE, read_json, read_json_lines, tiny_model

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert(tmp_path_factory.mktemp("bert") / "tiny")


@pytest.fixture(scope="module")
def graph(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("graph") / "graph"
    given = {"mesh": [SAMPLE / "mesh.tsv"], "ctd": [SAMPLE / "ctd"], "exclude_dataset": dataset, "out": out}
    return build_graph.run(BuildGraph.model_validate(given)).path


@pytest.fixture(scope="module")
def trained(dataset: Path, bert: Path, graph: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("bert-model") / "model"
    return tiny_model(
        dataset, out, encoder=f"hf:{bert}", graph=graph, branches=2, gradient_checkpointing=True, epochs=1
    )


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def test_documents_are_encoded_again_and_the_sizes_are_those_of_the_bert(trained):
    opened = open_model(trained)
    network = opened.model.config
    assert (network.encoder, network.width, network.positions, network.branches) == ("bert", 16, 64, 2)
    assert opened.tokenizer.encode("Acute").tokens == ["acute"]
    counts = read_json(trained / "manifest.json")["counts"]
    assert counts[Reason.DOCUMENTS_ENCODED_AGAIN] == 14


def test_the_model_works_without_the_folder_of_the_bert(trained, dataset, graph, bert, tmp_path):
    hidden = bert.rename(bert.with_name("away"))
    try:
        given = {"model": trained, "dataset": dataset, "out": tmp_path / "evaluation", "graph": graph, "plots": False}
        evaluate.run(Evaluate.model_validate(given))
        given = {"input": SAMPLE / "abstracts.jsonl", "model": trained, "graph": graph, "out": tmp_path / "r.jsonl"}
        extract.run(Extract.model_validate(given))
    finally:
        hidden.rename(bert)
    assert read_json(tmp_path / "evaluation" / "metrics.json")["protocol"]["knowledge"].startswith("EXTERNAL")
    statuses = read_json_lines(tmp_path / "r.jsonl.status.jsonl")
    assert {row["status"] for row in statuses} <= {"ok", "nothing above threshold", "no entities"}
    assert max(row["windows"] for row in statuses) > 1


def test_each_block_has_a_lower_learning_rate_than_the_one_above(trained):
    model = open_model(trained).model
    optimizer = build_optimizer(
        model,
        rate=1e-3,
        betas=(0.9, 0.999),
        epsilon=1e-8,
        weight_decay=0.1,
        share=lambda name: layer_share(name, layers=2, top=0.1, decay=0.5),
    )
    shares = {id(parameter): group["share"] for group in optimizer.param_groups for parameter in group["params"]}
    by_name = {name: shares[id(parameter)] for name, parameter in model.named_parameters()}
    assert by_name["ner.weight"] == 1
    assert by_name["bert.model.encoder.layer.1.output.dense.weight"] == pytest.approx(0.1)
    assert by_name["bert.model.encoder.layer.0.output.dense.bias"] == pytest.approx(0.05)
    assert by_name["bert.model.embeddings.word_embeddings.weight"] == pytest.approx(0.025)
    assert len(shares) == len(list(model.parameters()))


def test_rejects_a_folder_without_weights(dataset, bert, tmp_path):
    bare = tmp_path / "bare"
    bare.mkdir()
    for path in bert.glob("*.json"):
        (bare / path.name).write_bytes(path.read_bytes())
    with pytest.raises(ModelError, match="no weights"):
        tiny_model(dataset, tmp_path / "model", encoder=f"hf:{bare}")
    assert not (tmp_path / "model").exists()
