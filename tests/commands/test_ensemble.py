"""ensemble: several model folders become one, which can replace a model folder everywhere."""

from __future__ import annotations

import shutil
from pathlib import Path
from statistics import fmean

import pytest

from biorel.commands import ensemble, evaluate, export, extract
from biorel.config.ensemble import Ensemble
from biorel.config.evaluate import Evaluate
from biorel.config.export import Export
from biorel.config.extract import Extract
from biorel.errors import ModelError
from biorel.records import Score
from biorel.tables import read_table
from biorel.training.model_folder import open_model
from tests.command_runs import SAMPLE, command_line, flags, read_json, read_json_lines, sample_dataset, tiny_model


@pytest.fixture(scope="module")
def other(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A second model of the dataset, with another seed and another width."""
    return tiny_model(dataset, tmp_path_factory.mktemp("other") / "model", epochs=6, seed=2, width=8)


@pytest.fixture(scope="module")
def joined(model: Path, other: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ensemble.run(Ensemble(model=(model, other), out=tmp_path_factory.mktemp("joined") / "model")).path


def scores(model: Path, dataset: Path, out: Path) -> dict[tuple[str, str, str, str], float]:
    evaluate.run(Evaluate(model=model, dataset=dataset, plots=False, out=out))
    rows = read_table(out / "scores.parquet", Score)
    return {(row.doc_id, row.head_id, row.tail_id, row.relation): row.score for row in rows}


def test_the_folder_is_a_model_folder_without_a_pickle(joined, model, other):
    names = {"model.safetensors", "config.json", "tokenizer.json", "labels.json", "thresholds.json", "metrics.json"}
    assert {path.name for path in joined.iterdir()} == names | {"README.md", "manifest.json"}
    assert read_json(joined / "labels.json") == read_json(model / "labels.json")
    thresholds = [read_json(path / "thresholds.json") for path in (model, other)]
    assert thresholds[0] != thresholds[1]
    for label, threshold in read_json(joined / "thresholds.json").items():
        assert threshold == pytest.approx(fmean(member[label] for member in thresholds))
    assert [member["seed"] for member in read_json(joined / "metrics.json")["members"]] == [1, 2]
    card = (joined / "README.md").read_text()
    assert "mean of the members' thresholds" in card
    assert str(model) in card


def test_its_evaluation_has_the_mean_scores(joined, model, other, dataset, tmp_path):
    first, second, both = (
        scores(path, dataset, tmp_path / name) for name, path in (("1", model), ("2", other), ("3", joined))
    )
    assert max(abs(first[key] - second[key]) for key in first) > 0.01
    assert both == pytest.approx({key: (first[key] + second[key]) / 2 for key in first}, abs=1e-5)
    assert "mean of the members'" in read_json(tmp_path / "3" / "metrics.json")["protocol"]["thresholds"]
    assert "mean" not in read_json(tmp_path / "1" / "metrics.json")["protocol"]["thresholds"]


def test_extraction_with_it_gives_scores_and_evidence(joined, tmp_path):
    out = tmp_path / "relations.jsonl"
    summary = extract.run(Extract(input=SAMPLE / "abstracts.jsonl", model=joined, out=out, all_scores=True))
    rows = read_json_lines(out)
    assert len(rows) == summary.details["relations"] > 0
    several = [row for row in rows if len(row["evidence"]) > 1]
    assert several
    assert all(0 < sum(part["weight"] for part in row["evidence"]) <= 1 + 1e-5 for row in rows)


def test_an_ensemble_of_one_has_the_scores_of_its_member(model, dataset, tmp_path):
    alone = ensemble.run(Ensemble(model=(model,), out=tmp_path / "alone")).path
    assert open_model(alone).thresholds == open_model(model).thresholds
    expected = scores(model, dataset, tmp_path / "1")
    assert scores(alone, dataset, tmp_path / "2") == pytest.approx(expected, abs=1e-6)


def test_it_cannot_be_exported_to_onnx(joined, tmp_path):
    with pytest.raises(ModelError, match="an ensemble cannot be exported to ONNX"):
        export.run(Export(model=joined, out=tmp_path / "onnx"))
    assert not (tmp_path / "onnx").exists()


# ---- faults


def test_rejects_members_with_other_inputs(joined, model, dataset, tmp_path):
    (tmp_path / "sources").mkdir()
    elsewhere = sample_dataset(tmp_path / "sources", vocabulary=300)
    faults = {
        "is itself an ensemble": joined,
        "has another vocabulary than": tiny_model(elsewhere, tmp_path / "vocabulary", epochs=1),
        "differ in pair_features, lexical_features, span_pooling$": tiny_model(
            dataset, tmp_path / "tokens", epochs=1, span_pooling="tokens", pair_features=False, rerank=False
        ),
        "differ in lexical_features$": tiny_model(dataset, tmp_path / "unranked", epochs=1, rerank=False),
    }
    for fault, path in faults.items():
        with pytest.raises(ModelError, match=f"^{path}.*{fault}"):
            ensemble.run(Ensemble(model=(model, path), out=tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_rejects_members_with_other_relations(model, tmp_path):
    changed = shutil.copytree(model, tmp_path / "changed")
    labels = (changed / "labels.json").read_text()
    (changed / "labels.json").write_text(labels.replace('"head": "Gene"', '"head": "Protein"'))
    with pytest.raises(ModelError, match="has other relations or entity types"):
        ensemble.run(Ensemble(model=(model, changed), out=tmp_path / "out"))


def test_on_the_command_line(model, other, tmp_path, capsys):
    code, output, _ = command_line(capsys, "ensemble", *flags(model=model), *flags(model=other, out=tmp_path / "both"))
    assert (code, output) == (0, f"the mean of 2 models\nmodel: {tmp_path / 'both'}\n")
    for arguments, status in (
        (flags(model=model) * 2, 2),
        ([], 2),
        (flags(model=tmp_path / "nowhere"), 4),
    ):
        code, _, errors = command_line(capsys, "ensemble", *arguments, "--out", tmp_path / "none")
        assert code == status
        assert [line.partition(":")[0] for line in errors.splitlines()] == ["error", "hint"]
