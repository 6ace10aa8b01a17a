"""train: the files of a model folder, options, resumption after a kill, and faults."""

from __future__ import annotations

import ast
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file

from biorel.commands import extract, pretrain, train
from biorel.config.extract import Extract
from biorel.config.train import Train
from biorel.counts import Reason
from biorel.errors import InputError, ModelError, OutputError
from biorel.model.bran import BranConfig
from biorel.model.masked import MaskedConfig
from biorel.progress import Report
from biorel.training.checkpoint import FILE
from biorel.training.model_folder import open_model
from biorel.training.pretrain import PretrainingArguments
from biorel.training.relations import TrainingArguments
from tests.command_runs import (
    SAMPLE,
    TINY,
    build,
    command_line,
    flags,
    pubtator,
    read_json,
    read_json_lines,
    sample_dataset,
    tiny_model,
)
from tests.recorder import Recorder

SPEED = ("seconds", "documents_per_second", "seconds_per_epoch")


class Killed(BaseException):
    """Stops a run from outside, like Ctrl-C."""


def interrupted(after: Callable[[Report], bool]) -> Callable[[Iterable[Report]], Iterator[Report]]:
    """A `reports` argument that stops the run after a report."""

    def pass_on(reports: Iterable[Report]) -> Iterator[Report]:
        for report in reports:
            yield report
            if after(report):
                raise Killed

    return pass_on


def config(dataset: Path, out: Path, **options: Any) -> Train:
    return Train.model_validate({"dataset": dataset, "out": out, **TINY, **options})


def weights(model: Path) -> bytes:
    return (model / "model.safetensors").read_bytes()


def without_speed(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in SPEED}


def history(model: Path) -> list[dict[str, Any]]:
    return [without_speed(row) for row in pd.read_parquet(model / "history.parquet").to_dict("records")]


def checkpoint(out: Path) -> Path:
    return out.with_name(out.name + ".partial") / "checkpoint" / FILE


def checkpoint_state(out: Path) -> dict[str, Any]:
    with safe_open(checkpoint(out), framework="pt") as file:
        return json.loads(file.metadata()["state"])


def assert_same_run(first: Path, other: Path) -> None:
    """Check that two model folders differ only in paths and speed."""
    assert weights(first) == weights(other)
    assert read_json(first / "thresholds.json") == read_json(other / "thresholds.json")
    assert without_speed(read_json(first / "metrics.json")) == without_speed(read_json(other / "metrics.json"))
    assert history(first) == history(other)


# ---- the model folder


def test_a_model_folder_is_complete_and_loads(model, dataset):
    files = {path.name for path in model.iterdir()}
    assert files == {
        *("model.safetensors", "config.json", "tokenizer.json", "labels.json", "thresholds.json", "metrics.json"),
        *("README.md", "history.parquet", "manifest.json", "events"),
    }
    opened = open_model(model)
    assert not opened.model.training
    assert all(bool(torch.isfinite(parameter).all()) for parameter in opened.model.parameters())
    assert (model / "labels.json").read_text() == (dataset / "labels.json").read_text()
    assert (model / "tokenizer.json").read_text() == (dataset / "tokenizer.json").read_text()
    assert opened.model.config.width == TINY["width"]
    assert read_json(model / "metrics.json")["documents"] == {"train": 10, "dev": 4}
    card = (model / "README.md").read_text()
    assert "10 documents" in card
    assert "`width`: 16" in card
    assert not list(model.parent.glob("*.partial"))


def test_history_and_events_have_a_row_for_every_epoch(model):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    rows = pd.read_parquet(model / "history.parquet")
    assert list(rows["epoch"]) == [1, 2, 3, 4, 5, 6]
    assert set(rows.columns) == {"epoch", "loss", "ner_loss", "dev_f1", "dev_ner_f1", "documents_per_second", "seconds"}
    assert rows["loss"].iloc[-1] < rows["loss"].iloc[0]
    events = EventAccumulator(str(model / "events")).Reload()
    for tag, column in (("dev/f1", "dev_f1"), ("loss/relations", "loss"), ("loss/ner", "ner_loss")):
        values = [(event.step, event.value) for event in events.Scalars(tag)]
        expected = list(zip(rows["epoch"], rows[column], strict=True))
        assert [step for step, _ in values] == [step for step, _ in expected]
        assert [value for _, value in values] == pytest.approx([value for _, value in expected], rel=1e-5)


def test_the_best_epoch_is_saved(model):
    metrics, rows = read_json(model / "metrics.json"), pd.read_parquet(model / "history.parquet")
    assert metrics["dev_f1_without_reranker"] == rows["dev_f1"].max()
    assert metrics["best_epoch"] == rows["epoch"][rows["dev_f1"].idxmax()]


@pytest.mark.slow
def test_the_same_seed_gives_the_same_network_and_another_seed_another(dataset, model, tmp_path):
    tiny_model(dataset, tmp_path / "again", epochs=6)
    assert_same_run(model, tmp_path / "again")
    tiny_model(dataset, tmp_path / "other", seed=2)
    tiny_model(dataset, tmp_path / "two")
    assert weights(tmp_path / "other") != weights(tmp_path / "two")


def test_there_is_a_report_after_every_step_and_every_epoch(dataset, tmp_path):
    recorder = Recorder()
    train.run(config(dataset, tmp_path / "m"), recorder)
    reports = recorder.reports
    ends = [report for report in reports if report.dev is not None]
    assert [report.epoch for report in ends] == [1, 2]
    steps = ends[0].steps
    assert steps > 1
    assert [report.epoch_step for report in reports if report.dev is None] == [*range(1, steps + 1)] * 2
    assert all(report.speed > 0 for report in reports)


# ---- options


def keywords(module: ModuleType, kind: type) -> list[str]:
    """The keyword arguments with which a command's module builds a record."""
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    (call,) = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == kind.__name__
    ]
    return [str(keyword.arg) for keyword in call.keywords]


@pytest.mark.parametrize(
    ("module", "kind"),
    [
        (train, BranConfig),
        (train, TrainingArguments),
        (pretrain, MaskedConfig),
        (pretrain, PretrainingArguments),
    ],
    ids=lambda value: value.__name__,
)
def test_every_field_is_set_from_the_options(module, kind):
    """A forgotten field would keep its default and ignore the option of the user."""
    assert sorted(keywords(module, kind)) == sorted(field.name for field in fields(kind))


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"sampling": "paper", "steps_per_epoch": 5, "pairs_per_step": 4},
        {"gradient_noise": 0.1},
        {"span_pooling": "tokens", "pair_features": False, "rerank": False},
        {"heads": 0, "ner_weight": 0},
        {"positions": 40},
    ],
    ids=lambda options: next(iter(options)),
)
def test_every_option_changes_the_network_and_gives_the_same_one_twice(dataset, tmp_path, options):
    tiny_model(dataset, tmp_path / "plain", epochs=1)
    for name in ("first", "second"):
        tiny_model(dataset, tmp_path / name, epochs=1, **options)
    assert weights(tmp_path / "first") == weights(tmp_path / "second")
    assert weights(tmp_path / "first") != weights(tmp_path / "plain")
    opened = open_model(tmp_path / "first")
    assert all(bool(torch.isfinite(parameter).all()) for parameter in opened.model.parameters())


@pytest.mark.slow
def test_without_the_reranker_the_same_network_is_trained(dataset, tmp_path):
    for name, rerank in (("with", True), ("without", False)):
        tiny_model(dataset, tmp_path / name, epochs=1, rerank=rerank)
    reranked, bare = (load_file(tmp_path / name / "model.safetensors") for name in ("with", "without"))
    added = {name for name in reranked if name.startswith("reranker.")}
    assert {name.removeprefix("reranker.") for name in added} == {
        *("lexical_weights", "feature_weights", "bias", "mix", "competing_weights", "competing_bias"),
    }
    assert reranked["reranker.lexical_weights"].any()
    assert reranked.keys() - added == bare.keys()
    assert all(torch.equal(reranked[name], weights) for name, weights in bare.items())
    cards = {name: (tmp_path / name / "README.md").read_text() for name in ("with", "without")}
    assert "A reranker follows the network" in cards["with"]
    assert "A reranker" not in cards["without"]
    assert "`rerank`: False" in cards["without"]


def test_rejects_a_model_with_the_features_of_another_version(model, tmp_path):
    shutil.copytree(model, tmp_path / "old")
    changed = read_json(model / "config.json")
    changed["config"]["pair_features"] = 12
    (tmp_path / "old" / "config.json").write_text(json.dumps(changed))
    with pytest.raises(ModelError, match="reads 12 pair features and 131072 buckets of lexical features") as caught:
        open_model(tmp_path / "old")
    assert "train the model again" in caught.value.hint


def test_paper_sampling_makes_the_given_number_of_steps(dataset, tmp_path):
    recorder = Recorder()
    train.run(
        config(dataset, tmp_path / "m", sampling="paper", steps_per_epoch=7, epochs=1),
        recorder,
    )
    assert [report.steps for report in recorder.reports] == [7] * 8


def test_patience_stops_a_run_that_does_not_improve(dataset, tmp_path):
    tiny_model(dataset, tmp_path / "m", epochs=9, patience=2, learning_rate=1e-12)
    assert [row["epoch"] for row in history(tmp_path / "m")] == [1, 2, 3]
    assert read_json(tmp_path / "m" / "metrics.json")["best_epoch"] == 1


def test_dev_can_be_drawn_from_train_and_dev(dataset, tmp_path):
    tiny_model(dataset, tmp_path / "m", epochs=1, resplit_dev=6)
    assert read_json(tmp_path / "m" / "metrics.json")["documents"] == {"train": 8, "dev": 6}
    with pytest.raises(InputError, match="train and dev together have 14 documents"):
        tiny_model(dataset, tmp_path / "n", resplit_dev=14)


def test_training_starts_from_pre_trained_vectors(dataset, tmp_path, write):
    vocabulary = read_json(dataset / "tokenizer.json")["model"]["vocab"]
    inner = next(token for token in vocabulary if len(token) == 2 and token.isalpha())
    final = next(token for token in vocabulary if token.endswith("</w>") and len(token) > len("</w>") + 1)
    numbers = [0.25 * number for number in range(16)]
    row = " ".join(map(str, numbers))
    text = f"3 16\n{inner}@@ {row}\n{final.removesuffix('</w>')} {row}\nnosuchtoken {row}\n"
    tiny_model(dataset, tmp_path / "m", epochs=1, vectors=write("v.vec.gz", text), learning_rate=1e-12)
    tokens = load_file(tmp_path / "m" / "model.safetensors")["embedding.tokens.weight"]
    for token in (inner, final):
        assert tokens[vocabulary[token]].tolist() == pytest.approx(numbers, abs=1e-6)
    other = next(token for token in vocabulary if token not in (inner, final) and len(token) == 2)
    assert tokens[vocabulary[other]].tolist() != pytest.approx(numbers, abs=1e-2)
    assert read_json(tmp_path / "m" / "manifest.json")["counts"][Reason.PRETRAINED_VECTORS] == 2


def test_a_word_model_reads_whole_words_and_uses_vectors_of_words(tmp_path, write):
    dataset = sample_dataset(tmp_path, tokenizer="words", min_count=2)
    vocabulary = read_json(dataset / "tokenizer.json")["model"]["vocab"]
    word = next(token for token in vocabulary if len(token) > 4 and token.isalpha())
    numbers = [0.25 * number for number in range(16)]
    row = " ".join(map(str, numbers))
    model = tiny_model(
        dataset, tmp_path / "m", epochs=1, vectors=write("v.vec", f"{word} {row}\n{word}@@ 1\n"), learning_rate=1e-12
    )
    tokens = load_file(model / "model.safetensors")["embedding.tokens.weight"]
    assert tokens.shape == (len(vocabulary), 16)
    assert tokens[vocabulary[word]].tolist() == pytest.approx(numbers, abs=1e-6)
    assert read_json(model / "manifest.json")["counts"][Reason.PRETRAINED_VECTORS] == 1
    out = tmp_path / "relations.jsonl"
    extract.run(Extract(input=SAMPLE / "abstracts.jsonl", model=model, out=out, min_score=0))
    assert len(read_json_lines(out)) > 10


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("1 17\nof " + "1 " * 17, "a vector of 17 numbers is wider than --width 16"),
        ("1 2\nnosuchtoken 1 2\n", "has no vector for any token of the dataset's vocabulary"),
        (None, "no such file"),
    ],
)
def test_rejects_unsuitable_vectors_and_leaves_no_output(dataset, tmp_path, write, text, fault):
    path = tmp_path / "v.vec" if text is None else write("v.vec", text)
    with pytest.raises(InputError, match=fault):
        tiny_model(dataset, tmp_path / "m", vectors=path)
    assert not list(tmp_path.glob("m*"))


# ---- resume


@pytest.mark.slow
def test_a_run_that_is_killed_twice_ends_with_the_same_weights(dataset, tmp_path):
    """kill -9 after the first epoch of 150 steps, then within the second, after the checkpoint at step 200."""
    options = {**TINY, "sampling": "paper", "steps_per_epoch": 150, "pairs_per_step": 2, "blocks": 1}
    out = tmp_path / "killed"
    command = [sys.executable, "-m", "biorel", "train", *flags(dataset=dataset, out=out, **options)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    for due, within in ((150, 0), (200, 50)):
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        limit = time.monotonic() + 120
        while not checkpoint(out).is_file() or checkpoint_state(out)["step"] < due:
            assert process.poll() is None, "the run ended before it could be killed"
            assert time.monotonic() < limit
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert checkpoint_state(out)["epoch_step"] == within
        assert not out.exists()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "epoch 2/2" in done.stderr
    assert "epoch 1/2" not in done.stderr
    assert read_json(out / "manifest.json")["resumed"] is True
    assert not list(tmp_path.glob("*.partial"))

    tiny_model(dataset, tmp_path / "whole", **options)
    assert_same_run(out, tmp_path / "whole")
    assert read_json(tmp_path / "whole" / "manifest.json")["resumed"] is False


def test_a_run_that_fails_before_its_first_checkpoint_leaves_no_output(dataset, tmp_path):
    with pytest.raises(Killed):
        train.run(config(dataset, tmp_path / "m"), Recorder(interrupted(lambda report: True)))
    assert not list(tmp_path.iterdir())


def test_rejects_a_checkpoint_of_other_parameters_unless_forced(dataset, tmp_path):
    with pytest.raises(Killed):
        train.run(config(dataset, tmp_path / "m"), Recorder(interrupted(lambda report: report.dev is not None)))
    for changes in ({"seed": 5}, {"width": 20}, {"epochs": 3}):
        with pytest.raises(ModelError, match="belongs to a run with other data or parameters") as caught:
            tiny_model(dataset, tmp_path / "m", **changes)
        assert "m.partial" in caught.value.hint
    # the number of threads and the name of the folder do not identify a run
    tiny_model(dataset, tmp_path / "m", seed=5, force=True)
    tiny_model(dataset, tmp_path / "fresh", seed=5)
    assert_same_run(tmp_path / "m", tmp_path / "fresh")


# ---- faults


def test_D07_an_empty_split_gives_an_error_of_one_line(tmp_path, write, capsys):
    mentions = [("Aspirin", "Chemical", "D000001"), ("ulcer", "Disease", "D000002")]
    text = pubtator("1", "Aspirin.", "An ulcer.", mentions, [("D000001", "D000002")])
    for split, other in (("train", "dev"), ("dev", "train")):
        build(tmp_path / f"{other}-only", **{other: [write("a.txt", text)]}, schema="cdr")
        code, _, errors = command_line(
            capsys, "train", "--dataset", tmp_path / f"{other}-only", "--out", tmp_path / "m"
        )
        assert code == 3
        assert f"the {split} split is empty" in errors
        assert len(errors.splitlines()) == 2
    assert not list(tmp_path.glob("m*"))


def test_an_infinite_loss_stops_the_run(dataset, tmp_path):
    with pytest.raises(ModelError, match=r"the loss is (nan|inf) at step \d+ of epoch 1") as caught:
        tiny_model(dataset, tmp_path / "m", learning_rate=1e30, warmup=0)
    assert "--learning-rate" in caught.value.hint
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("labels.json", None, "labels.json"),
        ("labels.json", "{}", "not a labels file"),
        ("tokenizer.json", None, "tokenizer.json: no such file"),
        ("tokenizer.json", "{}", "not a tokenizer file"),
        ("train/examples.parquet", None, "no such table"),
        ("train/examples.parquet", "PAR1", "not a Parquet file"),
    ],
)
def test_rejects_a_damaged_dataset(dataset, tmp_path, name, content, fault):
    copy = tmp_path / "dataset"
    for path in dataset.rglob("*"):
        if path.is_file():
            (copy / path.relative_to(dataset)).parent.mkdir(parents=True, exist_ok=True)
            (copy / path.relative_to(dataset)).write_bytes(path.read_bytes())
    if content is None:
        (copy / name).unlink()
    else:
        (copy / name).write_text(content)
    with pytest.raises((InputError, ModelError), match=fault):
        tiny_model(copy, tmp_path / "m")
    assert not list(tmp_path.glob("m*"))


def test_rejects_a_missing_dataset(tmp_path):
    with pytest.raises(ModelError, match=r"nowhere.labels\.json: No such file"):
        tiny_model(tmp_path / "nowhere", tmp_path / "m")


def test_rejects_a_device_that_does_not_exist(dataset, tmp_path):
    with pytest.raises(ModelError, match="device cuda:63 cannot be used") as caught:
        tiny_model(dataset, tmp_path / "m", device="cuda:63")
    assert "--device cpu" in caught.value.hint
    assert not list(tmp_path.iterdir())


def test_an_existing_output_is_replaced_only_with_force(dataset, tmp_path):
    tiny_model(dataset, tmp_path / "m", epochs=1)
    before = weights(tmp_path / "m")
    with pytest.raises(OutputError, match="exists already"):
        tiny_model(dataset, tmp_path / "m", seed=2)
    assert weights(tmp_path / "m") == before
    tiny_model(dataset, tmp_path / "m", epochs=1, seed=2, force=True)
    assert weights(tmp_path / "m") != before
