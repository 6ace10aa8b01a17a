"""R-06, R-07, R-08 and R-10: gradients, random draws, workers, determinism."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
import torch

from biorel.commands import extract, train
from biorel.config.extract import Extract
from biorel.errors import ModelError
from biorel.model.device import deterministic
from biorel.model.losses import ner_loss, relation_loss
from biorel.training import relations
from tests.builders import batch_of, collator, example, random_example, tiny_bran
from tests.command_runs import SAMPLE, read_json_lines, tiny_model
from tests.commands.test_train import weights
from tests.test_architecture import TREES


@pytest.mark.parametrize("forbidden", [-1e9, float("-inf")])
@pytest.mark.parametrize("size", [1.0, 1e4])
def test_r_06_masked_tokens_leave_finite_gradients(forbidden, size):
    scores = torch.tensor([[0.0, size, -size], [size, 0.0, 0.0]], requires_grad=True)
    masked = scores.masked_fill(torch.tensor([[False, False, True], [False, True, True]]), forbidden)
    labels = torch.tensor([[False, True, False], [True, False, False]])
    relation_loss(masked, labels, positive_weight=3.0).backward()
    assert torch.isfinite(scores.grad).all()


@pytest.mark.parametrize(
    "documents", [[example(tokens=[])], [example(tokens=[2, 3])], [random_example(1, 9), example(tokens=[])]]
)
def test_r_06_a_batch_without_labels_has_a_finite_loss(documents):
    bran = tiny_bran().train()
    batch = batch_of(documents)
    output = bran(batch)
    loss = relation_loss(output.pair_scores, batch.labels, positive_weight=1.0)
    loss = loss + ner_loss(output.ner_scores, batch.ner_labels, batch.token_mask)
    loss.backward()
    gradients = [parameter.grad for parameter in bran.parameters() if parameter.grad is not None]
    assert gradients
    assert all(torch.isfinite(gradient).all() for gradient in gradients)


@pytest.mark.parametrize("sampling", ["documents", "paper"])
def test_r_07_draws_depend_only_on_seed_and_epoch(sampling):
    documents = [random_example(seed, 12) for seed in range(9)]
    given = dict.fromkeys(relations.TrainingArguments.__dataclass_fields__, 0) | {
        "sampling": sampling,
        "token_budget": 30,
    }
    recipe = relations.TrainingArguments(**given | {"pairs_per_step": 3, "steps_per_epoch": 6, "seed": 4})
    work = relations.RelationObjective(tiny_bran(), documents, collator(), recipe, torch.device("cpu"))
    first = [work.plans(epoch) for epoch in (0, 1)]
    np.random.seed(7)
    torch.manual_seed(7)
    assert first == [work.plans(epoch) for epoch in (0, 1)]
    assert first[0] != first[1]


def test_r_07_nothing_uses_numpys_global_random_state_or_workers():
    nodes = (node for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    names = {ast.unparse(node) for node in nodes}
    drawing = {name for name in names if re.fullmatch(r"np\.random\.\w+", name)}
    assert drawing <= {"np.random.default_rng", "np.random.Generator"}
    assert not {name for name in names if "DataLoader" in name}


FORKED = """
import multiprocessing, os
from pathlib import Path
from tokenizers import Tokenizer
from biorel.text.tokenizer import learn_bpe
tokenizer = learn_bpe(["zetin causes tremor " * 50] * 200, 200)
tokenizer.encode_batch(["zetin"] * 500)
def work(number):
    return [len(one.ids) for one in tokenizer.encode_batch(["zetin causes tremor"] * 200)][0]
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(sorted(set(pool.map(work, range(8)))), os.environ["TOKENIZERS_PARALLELISM"])
"""


@pytest.mark.parametrize("asked", [None, "false"])
def test_r_08_tokenising_does_not_hang_after_a_fork(tmp_path, asked):
    environment = {name: value for name, value in os.environ.items() if name != "TOKENIZERS_PARALLELISM"}
    environment |= {"TOKENIZERS_PARALLELISM": asked} if asked else {}
    (tmp_path / "forked.py").write_text(FORKED)
    command = [sys.executable, str(tmp_path / "forked.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("] false\n")


def test_r_08_tagging_processes_do_not_hang_after_tokenising(tmp_path, monkeypatch):
    """Forked workers tag the second chunk after the first was tokenised in the parent process."""
    monkeypatch.setattr(extract, "BATCH_SIZE", 2)
    rows = [
        {"pmid": row["pmid"], "title": row["title"], "abstract": ""}
        for row in read_json_lines(SAMPLE / "abstracts.jsonl")[:4]
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = {"input": tmp_path / "a.jsonl", "out": tmp_path / "r.jsonl", "n_process": 2}
    assert extract.run(Extract.model_validate(given)).details["documents"] == 4


def test_r_10_deterministic_training_repeats_and_sets_the_workspace(dataset, tmp_path, monkeypatch):
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    seen = []
    monkeypatch.setattr(train, "pick_device", lambda name: seen.append(dict(os.environ)) or torch.device("cpu"))
    for name in ("a", "b"):
        tiny_model(dataset, tmp_path / name, deterministic=True, epochs=1)
    assert weights(tmp_path / "a") == weights(tmp_path / "b")
    # must be set before the first use of a device
    assert seen[0]["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
    assert not torch.are_deterministic_algorithms_enabled()


@pytest.mark.parametrize(
    ("fault", "kind"), [("x does not have a deterministic implementation", ModelError), ("out of memory", RuntimeError)]
)
def test_r_10_reports_a_nondeterministic_operation_in_one_line(fault, kind):
    with pytest.raises(kind, match=fault), deterministic(True):
        raise RuntimeError(f"{fault}\nmore")


def test_r_10_restores_the_settings_of_the_user(monkeypatch):
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8")
    with deterministic(True):
        assert torch.are_deterministic_algorithms_enabled()
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":16:8"
    assert not torch.are_deterministic_algorithms_enabled()
