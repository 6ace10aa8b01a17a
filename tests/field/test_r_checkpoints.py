"""R-01, R-03, R-04 and R-09: checkpoints, resuming, devices."""

from __future__ import annotations

import ast
import json
import os
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from biorel.commands import train
from biorel.errors import ModelError
from biorel.training import loop, relations
from biorel.training.checkpoint import FILE
from biorel.training.model_folder import open_model
from tests.command_runs import SAMPLE, command_line, flags, tiny_model
from tests.commands.test_train import (
    Killed,
    assert_same_run,
    checkpoint,
    checkpoint_state,
    config,
    interrupted,
    weights,
)
from tests.recorder import Recorder
from tests.test_architecture import TREES


@pytest.fixture
def killed(dataset: Path, tmp_path: Path) -> Path:
    """The checkpoint of a run `m` that was killed after the first epoch."""
    with pytest.raises(Killed):
        train.run(config(dataset, tmp_path / "m"), Recorder(interrupted(lambda report: report.dev is not None)))
    return checkpoint(tmp_path / "m")


def test_r_01_a_checkpoint_holds_tensors_and_plain_values(killed):
    kinds = {name.split("/")[0] for name in load_file(killed)}
    assert kinds == {"model", "average", "best", "optimizer", "random"}
    with safe_open(killed, framework="pt") as file:
        state = json.loads(file.metadata()["state"])
    assert isinstance(state["best_score"], float)
    assert isinstance(state["history"][0]["dev_f1"], float)


@pytest.mark.parametrize("place", ["model", "checkpoint"])
def test_r_01_rejects_a_pickle_without_running_it(killed, model, dataset, tmp_path, place):
    ran = tmp_path / "ran"

    class Trap:
        def __reduce__(self):
            return (os.mkdir, (str(ran),))

    held = {"score": np.float64(0.5), "args": Namespace(a=1), "path": Path(), "trap": Trap()}
    if place == "checkpoint":
        torch.save(held, killed)
        with pytest.raises(ModelError, match="damaged checkpoint"):
            tiny_model(dataset, tmp_path / "m")
    else:
        folder = tmp_path / "copy"
        folder.mkdir()
        for path in model.iterdir():
            if path.is_file():
                (folder / path.name).write_bytes(path.read_bytes())
        torch.save(held, folder / "model.safetensors")
        with pytest.raises(ModelError, match="not a safetensors file"):
            open_model(folder)
    assert not ran.exists()


@pytest.mark.parametrize("damage", [lambda whole: whole[: len(whole) // 2], lambda _: b"", lambda _: b"no checkpoint"])
def test_r_03_reports_and_keeps_a_damaged_checkpoint(killed, dataset, tmp_path, damage):
    whole = killed.read_bytes()
    killed.write_bytes(damage(whole))
    with pytest.raises(ModelError, match=rf"{killed}: damaged checkpoint"):
        tiny_model(dataset, tmp_path / "m")
    assert killed.read_bytes() == damage(whole)
    assert not (tmp_path / "m").exists()


def test_r_03_ignores_a_leftover_temporary_file(killed, dataset, tmp_path):
    killed.with_name(f"{FILE}.tmp").write_bytes(killed.read_bytes()[:100])
    tiny_model(dataset, tmp_path / "m")
    tiny_model(dataset, tmp_path / "whole")
    assert_same_run(tmp_path / "m", tmp_path / "whole")


def test_r_03_replaces_a_checkpoint_only_when_complete(killed, dataset, tmp_path, monkeypatch):
    """If the disk is full while the second checkpoint is written, the first one stays valid."""
    before = killed.read_bytes()

    def full(tensors, path, **options):
        Path(path).write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("biorel.model.checkpoint.save_file", full)
    with pytest.raises(Exception, match="No space left on device"):
        tiny_model(dataset, tmp_path / "m")
    assert killed.read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("steps", [None, 1, 5], ids=["after an epoch", "in the first steps", "after 5 steps"])
def test_r_04_a_resumed_run_has_the_learning_rates_of_an_uninterrupted_run(dataset, tmp_path, monkeypatch, steps):
    rates: dict[int, float] = {}
    true_rate = loop.learning_rate

    def noted(step, **schedule):
        rates[step] = true_rate(step, **schedule)
        return rates[step]

    monkeypatch.setattr(loop, "learning_rate", noted)
    monkeypatch.setattr(relations.TrainingArguments, "checkpoint_steps", steps or 200)
    given = {"epochs": 3, "warmup": 7, "token_budget": 300}
    train.run(config(dataset, tmp_path / "whole", **given))
    expected = dict(rates)
    assert len(expected) > 9
    rates.clear()

    def stop(report):
        return report.dev is not None if steps is None else report.epoch_step == steps

    with pytest.raises(Killed):
        train.run(config(dataset, tmp_path / "m", **given), Recorder(interrupted(stop)))
    done = max(rates) + 1
    assert checkpoint_state(tmp_path / "m")["step"] == done
    moments = {name: value for name, value in load_file(checkpoint(tmp_path / "m")).items() if "optimizer/" in name}
    assert any(float(value.abs().sum()) > 0 for name, value in moments.items() if name.endswith("/exp_avg_sq"))
    rates.clear()
    recorder = Recorder()
    train.run(config(dataset, tmp_path / "m", **given), recorder)
    assert rates == {step: rate for step, rate in expected.items() if step >= done}
    assert [report.epoch for report in recorder.reports if report.dev] == ([2, 3] if steps is None else [1, 2, 3])
    assert weights(tmp_path / "m") == weights(tmp_path / "whole")


def test_r_09_resumes_on_a_cpu_since_checkpoints_name_no_device(killed, model, dataset, tmp_path):
    header = (model / "model.safetensors").read_bytes()
    assert b"cuda" not in header[8 : 8 + int.from_bytes(header[:8], "little")]
    tensors = load_file(killed) | {"random/cuda": torch.zeros(16, dtype=torch.uint8)}
    with safe_open(killed, framework="pt") as file:
        metadata = file.metadata()
    save_file(tensors, killed, metadata=metadata)
    tiny_model(dataset, tmp_path / "m")
    tiny_model(dataset, tmp_path / "whole")
    assert_same_run(tmp_path / "m", tmp_path / "whole")


def test_r_09_reads_every_tensor_file_onto_the_cpu():
    calls = [node for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.Call)]
    loads = [ast.unparse(call) for call in calls if ast.unparse(call.func).split(".")[-1] == "load_file"]
    assert len(loads) >= 2
    assert all("device='cpu'" in load for load in loads)


def test_r_09_extract_names_a_missing_device(capsys, model, tmp_path):
    given = flags(model=model, device="cuda:7", out=tmp_path / "r.jsonl")
    code, _, err = command_line(capsys, "extract", SAMPLE / "abstracts.jsonl", *given)
    assert code == 4
    assert "device cuda:7 cannot be used" in err
