"""evaluate: the metrics equal a recount from the files, and nothing is learned from the test set."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from biorel.commands import evaluate
from biorel.config.evaluate import Evaluate
from biorel.errors import InputError, ModelError, OutputError
from biorel.records import Example, Pair, Score
from biorel.tables import read_table, write_table
from tests.command_runs import SAMPLE, build, read_json, sample_dataset, sample_documents, tiny_model

PRF = ["precision", "recall", "f1", "true_positives", "predicted", "gold"]


def run(model: Path, dataset: Path, out: Path, **options: Any) -> dict[str, Any]:
    """Evaluate without plots; returns metrics.json."""
    evaluate.run(Evaluate.model_validate({"model": model, "dataset": dataset, "out": out, "plots": False, **options}))
    return read_json(out / "metrics.json")


def scores(folder: Path) -> dict[tuple[str, str, str], dict[str, float]]:
    """The probabilities of each pair by relation, from scores.parquet."""
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in read_table(folder / "scores.parquet", Score):
        of_pair = found.setdefault((row.doc_id, row.head_id, row.tail_id), {})
        assert row.relation not in of_pair, "a key occurs twice"
        of_pair[row.relation] = row.score
    return found


def pairs(dataset: Path, split: str = "test") -> list[Pair]:
    return list(read_table(dataset / split / "pairs.parquet", Pair))


def counted(dataset: Path, folder: Path, model: Path, *, filtered: bool) -> tuple[int, int, int]:
    """(right, predicted, gold), recounted from the files fact by fact."""
    thresholds = read_json(model / "thresholds.json")
    table = scores(folder)
    right = predicted = gold = 0
    for pair in pairs(dataset):
        if pair.excluded_because in ("unmapped", "inferred") or (filtered and pair.excluded_because == "hypernym"):
            continue
        gold += len(pair.relations)
        by_relation = table.get((pair.doc_id, pair.head_id, pair.tail_id))
        if by_relation:
            best = max(by_relation, key=lambda name: by_relation[name])
            if by_relation[best] >= thresholds[best]:
                predicted += 1
                right += best in pair.relations
    return right, predicted, gold


def with_tables(dataset: Path, copy: Path, split: str, change: Callable[[str, list[Any]], list[Any]]) -> Path:
    """A copy of a dataset whose pairs and examples of one split are changed."""
    shutil.copytree(dataset, copy)
    for name, kind in (("pairs", Pair), ("examples", Example)):
        path = copy / split / f"{name}.parquet"
        write_table(path, kind, change(name, list(read_table(dataset / split / f"{name}.parquet", kind))))
    return copy


@pytest.fixture(scope="module")
def evaluation(model: Path, dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("evaluated") / "test"
    evaluate.run(Evaluate.model_validate({"model": model, "dataset": dataset, "split": "test", "out": out}))
    return out


# ---- the output folder


def test_metrics_have_the_documented_structure(evaluation, dataset):
    metrics = read_json(evaluation / "metrics.json")
    parts = ("micro", "macro", "by_relation", "by_pair_type", "ner", "unfiltered", "every_pair", "protocol")
    assert set(parts) <= set(metrics)
    assert list(metrics["micro"]) == PRF
    assert list(metrics["macro"]) == [*PRF, "f1_of_means"]
    labels = [relation["name"] for relation in read_json(dataset / "labels.json")["relations"]]
    assert list(metrics["by_relation"]) == labels
    assert set(metrics["by_pair_type"]) == {"chemical_disease", "gene_disease", "chemical_gene"}
    assert list(metrics["ner"]["overall"]) == PRF
    assert set(metrics["ner"]["by_type"]) == {"Chemical", "Disease", "Gene"}
    assert metrics["protocol"]["documents"] == 2
    assert metrics["micro"]["gold"] == read_json(dataset / "stats.json")["splits"]["test"]["positives"]


def test_E01_undefined_values_are_null_in_strict_json(evaluation):
    metrics = json.loads((evaluation / "metrics.json").read_text(), parse_constant=pytest.fail)
    without = [row for row in metrics["by_relation"].values() if not row["gold"]]
    assert without
    assert all(row["recall"] is None and row["f1"] is None for row in without)


def test_the_folder_is_complete(evaluation):
    assert {path.name for path in evaluation.iterdir()} == {
        *("metrics.json", "report.md", "scores.parquet", "distance.parquet", "curves.parquet"),
        *("distance.png", "curves.png", "manifest.json"),
    }
    for name in ("distance.png", "curves.png"):
        assert (evaluation / name).read_bytes().startswith(b"\x89PNG")
    distance = pd.read_parquet(evaluation / "distance.parquet")
    assert set(distance["cutoff"]) == {11, 25, 50, 100, 500}
    assert "Chemical / Disease" in (evaluation / "report.md").read_text()


def test_scores_are_keyed_and_cover_every_pair(evaluation, dataset):
    table = scores(evaluation)
    expected = {(pair.doc_id, pair.head_id, pair.tail_id): pair for pair in pairs(dataset)}
    assert set(table) == set(expected)
    for key, by_relation in table.items():
        assert 0 <= sum(by_relation.values()) <= 1 + 1e-6
        pair_type = f"{expected[key].head_type}_{expected[key].tail_type}".lower()
        # a relation of other argument types has probability 0
        assert all(score == 0 for name, score in by_relation.items() if not name.startswith(f"{pair_type}:"))
        assert any(score > 0 for score in by_relation.values())


# ---- the metrics


def test_the_metrics_equal_a_recount_from_the_files(evaluation, dataset, model):
    metrics = read_json(evaluation / "metrics.json")
    for filtered, row in ((True, metrics["micro"]), (False, metrics["unfiltered"]["micro"])):
        right, predicted, gold = counted(dataset, evaluation, model, filtered=filtered)
        assert (row["true_positives"], row["predicted"], row["gold"]) == (right, predicted, gold)
        assert predicted > 0
        assert row["precision"] == pytest.approx(right / predicted)
        assert row["recall"] == pytest.approx(right / gold)
        assert row["f1"] == pytest.approx(2 * right / (predicted + gold))


def test_evaluation_on_dev_gives_the_dev_f1_of_training(model, dataset, tmp_path):
    metrics = run(model, dataset, tmp_path / "e", split="dev")
    assert metrics["micro"]["f1"] == pytest.approx(read_json(model / "metrics.json")["dev_f1"], abs=1e-12)


def test_E03_test_labels_do_not_change_predictions(model, dataset, evaluation, tmp_path):
    """Every positive of the test split becomes a negative and some negatives become positives."""
    first = read_json(dataset / "labels.json")["relations"][0]["name"]

    def changed(pair: Pair) -> Pair:
        emptied = pair.relations or pair.tail_type == "Gene"
        return pair if pair.excluded_because else replace(pair, relations=() if emptied else (first,))

    turned_pairs = [changed(pair) for pair in pairs(dataset)]
    labels = {(pair.doc_id, pair.head_id, pair.tail_id): (1,) if pair.relations else () for pair in turned_pairs}

    def relabelled(example: Example) -> Example:
        ends = zip(example.pair_heads, example.pair_tails, strict=True)
        ids = example.entity_ids
        return replace(example, pair_labels=tuple(labels[example.doc_id, ids[head], ids[tail]] for head, tail in ends))

    def turn(name: str, rows: list[Any]) -> list[Any]:
        return turned_pairs if name == "pairs" else [relabelled(row) for row in rows]

    turned = with_tables(dataset, tmp_path / "turned", "test", turn)
    metrics, before = run(model, turned, tmp_path / "e"), read_json(evaluation / "metrics.json")
    assert pq.read_table(tmp_path / "e" / "scores.parquet").equals(pq.read_table(evaluation / "scores.parquet"))
    assert metrics["micro"]["predicted"] == before["micro"]["predicted"]
    assert metrics["micro"]["gold"] != before["micro"]["gold"]
    assert metrics["ner"] == before["ner"]


def test_facts_of_documents_over_the_token_limit_count_for_recall(model, dataset, tmp_path):
    examples = read_table(dataset / "test" / "examples.parquet", Example)
    lengths = sorted((len(example.token_ids), example.doc_id) for example in examples)
    capped = sample_dataset(tmp_path, max_tokens=lengths[0][0], tokenizer_file=dataset)
    lost = [pair for pair in pairs(dataset) if pair.doc_id == lengths[1][1] and not pair.excluded_because]
    facts = sum(len(pair.relations) for pair in lost)
    assert facts > 0
    whole, cut = run(model, dataset, tmp_path / "whole"), run(model, capped, tmp_path / "cut")
    assert cut["protocol"]["documents"] == 1
    assert cut["micro"]["gold"] == whole["micro"]["gold"]
    assert cut["not_scored"] == {"too_long": facts}
    assert {doc_id for doc_id, _, _ in scores(tmp_path / "cut")} == {lengths[0][1]}


def test_the_hypernym_filter_removes_predictions_and_keeps_gold_facts(evaluation, dataset):
    metrics = read_json(evaluation / "metrics.json")
    hypernyms = sum(pair.excluded_because == "hypernym" for pair in pairs(dataset))
    assert hypernyms > 0
    filtered, unfiltered = metrics["micro"], metrics["unfiltered"]["micro"]
    assert unfiltered["predicted"] - filtered["predicted"] == metrics["ignored"].get("hypernym", 0) <= hypernyms
    assert unfiltered["gold"] == filtered["gold"]


def test_the_baseline_predicts_every_pair(evaluation, dataset):
    usable = [pair for pair in pairs(dataset) if not pair.excluded_because]
    assert read_json(evaluation / "metrics.json")["every_pair"]["micro"]["predicted"] == len(usable)


@pytest.mark.parametrize("batch_tokens", [1, 700])
def test_the_batch_does_not_change_a_score(model, dataset, evaluation, tmp_path, batch_tokens):
    run(model, dataset, tmp_path / "e", batch_tokens=batch_tokens)
    expected, found = scores(evaluation), scores(tmp_path / "e")
    assert set(found) == set(expected)
    for key, by_relation in expected.items():
        assert found[key] == pytest.approx(by_relation, abs=1e-5)


# ---- models and datasets


def test_D07_a_test_dataset_needs_no_other_split(model, dataset, evaluation, tmp_path):
    """A dataset with only a test split has another vocabulary; the model reads it in the model's."""
    wanted = {pair.doc_id for pair in pairs(dataset)}
    source = tmp_path / "test.txt"
    source.write_text("".join(block for block in sample_documents() if block.split("|")[0] in wanted), encoding="utf-8")
    splits = tmp_path / "test.tsv"
    splits.write_text("".join(f"{doc_id}\ttest\n" for doc_id in wanted))
    alone = tmp_path / "alone"
    build(alone, documents=[source], splits=splits, ctd=SAMPLE / "ctd", mesh=[SAMPLE / "mesh.tsv"], max_tokens=1000)
    assert (alone / "tokenizer.json").read_text() != (dataset / "tokenizer.json").read_text()
    metrics, expected = run(model, alone, tmp_path / "e"), read_json(evaluation / "metrics.json")
    assert {**metrics, "protocol": None} == {**expected, "protocol": None}
    one, other = scores(evaluation), scores(tmp_path / "e")
    assert set(one) == set(other)
    assert all(other[key] == pytest.approx(one[key], abs=1e-5) for key in one)


def test_merged_mentions_stay_merged_when_they_are_encoded_again(dataset, tmp_path, write):
    """A dataset of `--unlinked merge` keeps its pseudo-entity when a model with another vocabulary reads it."""
    merged = sample_dataset(tmp_path, unlinked="merge", vocabulary=300)
    model = tiny_model(merged, tmp_path / "m", epochs=1)
    block = next(block for block in sample_documents() if "Chemical\t-\n" in block or "Disease\t-\n" in block)
    other = tmp_path / "other"
    build(
        other,
        documents=[write("one.txt", block)],
        splits=write("one.tsv", f"{block.split('|')[0]}\ttest\n"),
        ctd=SAMPLE / "ctd",
        mesh=[SAMPLE / "mesh.tsv"],
        unlinked="merge",
        max_tokens=1000,
    )
    run(model, other, tmp_path / "e")
    assert {(pair.doc_id, pair.head_id, pair.tail_id) for pair in pairs(other)} == set(scores(tmp_path / "e"))
    assert any("UNLINKED" in key for key in scores(tmp_path / "e"))


@pytest.mark.parametrize("split", ["dev", "train"])
def test_rejects_an_empty_split(model, tmp_path, split):
    blocks = sample_documents()[:2]
    (tmp_path / "a.txt").write_text("".join(blocks), encoding="utf-8")
    splits = tmp_path / "s.tsv"
    splits.write_text("".join(f"{block.split('|')[0]}\ttest\n" for block in blocks))
    build(tmp_path / "d", documents=[tmp_path / "a.txt"], ctd=SAMPLE / "ctd", splits=splits, max_tokens=1000)
    with pytest.raises(InputError, match=f"the {split} split is empty"):
        run(model, tmp_path / "d", tmp_path / "e", split=split)
    assert not list(tmp_path.glob("e*"))


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("model.safetensors", None, r"model\.safetensors: no such file"),
        ("model.safetensors", "weights", "not a safetensors file"),
        ("config.json", "{", "not JSON"),
        ("config.json", '{"sizes": {"width": 8}}', "missing or unknown"),
        ("thresholds.json", "{}", "thresholds.json and labels.json list different relations"),
        ("tokenizer.json", None, "no such file"),
    ],
)
def test_rejects_a_damaged_model(model, dataset, tmp_path, name, content, fault):
    damaged = tmp_path / "m"
    shutil.copytree(model, damaged)
    (damaged / name).unlink()
    if content is not None:
        (damaged / name).write_text(content)
    with pytest.raises((ModelError, InputError), match=fault):
        run(damaged, dataset, tmp_path / "e")
    assert not list(tmp_path.glob("e*"))


def test_rejects_a_missing_model(dataset, tmp_path):
    with pytest.raises(ModelError, match="no such model folder"):
        run(tmp_path / "nowhere", dataset, tmp_path / "e")


def test_an_existing_output_is_replaced_only_with_force(model, dataset, tmp_path):
    run(model, dataset, tmp_path / "e", split="dev")
    with pytest.raises(OutputError, match="exists already"):
        run(model, dataset, tmp_path / "e")
    assert read_json(tmp_path / "e" / "metrics.json")["protocol"]["split"] == "dev"
    assert run(model, dataset, tmp_path / "e", force=True)["protocol"]["split"] == "test"
