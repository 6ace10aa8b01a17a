"""Pipeline files that extend others: the result of their changes, and changes that are rejected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from biorel.errors import BiorelError, ConfigError, InputError
from biorel.pipeline.pipeline_file import read_pipeline

BASE = """
[[stage]]
name = "dataset"
command = "build-dataset"
train = ["a.txt"]
merges = "merges.txt"

[[stage]]
name = "model"
command = "train"
dataset = "{dataset}"
heads = 4
"""


@pytest.fixture
def write(tmp_path: Path):
    """Writes a file into the folder that holds base.toml; returns its path."""

    def _write(content: str, name: str = "below/changed.toml") -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")
        return path

    _write(BASE, "base.toml")
    return _write


def test_applies_changes_to_the_extended_file(write):
    path = write(
        'extends = "../base.toml"\n[set.model]\nheads = 0\nkernels = [1, 1, 1]\n[unset]\ndataset = ["merges"]\n'
    )
    assert read_pipeline(path) == {
        "stage": [
            {"name": "dataset", "command": "build-dataset", "train": ["a.txt"]},
            {"name": "model", "command": "train", "dataset": "{dataset}", "heads": 0, "kernels": [1, 1, 1]},
        ]
    }


def test_later_changes_win_in_a_chain_of_files(write):
    write('extends = "base.toml"\n[set]\nmodel.heads = 2\nmodel.width = 32\n', "middle.toml")
    stages = read_pipeline(write('extends = "../middle.toml"\n[set]\nmodel.heads = 8\n'))["stage"]
    assert (stages[1]["heads"], stages[1]["width"]) == (8, 32)


def test_reads_a_file_without_extends_unchanged(tmp_path, write):
    assert [stage["name"] for stage in read_pipeline(tmp_path / "base.toml")["stage"]] == ["dataset", "model"]


def shipped(name: str) -> dict[str, dict[str, Any]]:
    """The stages of a shipped pipeline, by name."""
    return {stage["name"]: stage for stage in read_pipeline(Path(f"pipelines/{name}.toml"))["stage"]}


@pytest.mark.parametrize(
    ("name", "stage", "field", "value"),
    [
        ("cnn-only", "model", "heads", 0),
        ("no-width-5", "model", "kernels", [1, 1, 1]),
        ("no-ner", "model", "ner_weight", 0),
    ],
)
def test_an_ablation_is_its_baseline_with_one_change(name, stage, field, value):
    full, ablated = shipped("ablations/base"), shipped(f"ablations/{name}")
    assert field not in full[stage]
    full[stage][field] = value
    assert ablated == full


def test_the_baseline_of_the_ablations_is_the_cdr_pipeline_without_reranker_in_ten_epochs():
    full, base = shipped("cdr"), shipped("ablations/base")
    full["model"] |= {"rerank": False, "epochs": 10, "thresholds": "own"}
    assert base == full


@pytest.mark.parametrize("name", ["cdr", "chemprot", "ctd"])
def test_the_pipelines_of_the_paper_use_the_same_dataset_as_those_of_biorel(name):
    own, paper = shipped(name), shipped(f"paper/{name}")
    assert paper["dataset"] == own["dataset"]
    assert (paper["model"]["sampling"], paper["model"]["rerank"]) == ("paper", False)
    assert not own["model"].keys() & {"sampling", "rerank", "width", "learning_rate"}


def test_the_ablation_of_sub_words_changes_only_the_tokenizer():
    full, ablated = shipped("ablations/base"), shipped("ablations/words")
    assert full["dataset"].pop("merges")
    full["dataset"]["tokenizer"] = "words"
    assert ablated == full


def test_finds_a_shipped_pipeline_in_a_folder_outside_a_checkout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(read_pipeline(Path("pipelines/ablations/cnn-only.toml"))["stage"]) >= 3


FAULTS: dict[str, tuple[str, type[BiorelError], str]] = {
    "changes without a base": ("[set.model]\nheads = 0\n", ConfigError, "may hold only"),
    "extends is not a name": ('extends = ["../base.toml"]\n', ConfigError, "may hold only"),
    "stages next to extends": (
        'extends = "../base.toml"\n[[stage]]\nname = "x"\ncommand = "train"\n',
        ConfigError,
        "may hold only",
    ),
    "a missing base": ('extends = "base.toml"\n', InputError, r"base\.toml: No such file"),
    "a base that is not TOML": ('extends = "broken.toml"\n', InputError, r"broken\.toml: not TOML"),
    "itself": ('extends = "changed.toml"\n', ConfigError, "which extends it"),
    "a circle": ('extends = "circle.toml"\n', ConfigError, r"circle\.toml: extends changed\.toml, which extends it"),
    "no stage of the base": ('extends = "../base.toml"\n[set.modle]\nheads = 0\n', ConfigError, "changes modle, which"),
    "unset of no stage": ('extends = "../base.toml"\n[unset]\nmodle = ["heads"]\n', ConfigError, "changes modle"),
    "unset of what is not set": (
        'extends = "../base.toml"\n[unset]\nmodel = ["width"]\n',
        ConfigError,
        r"model: width is not set in \.\./base\.toml",
    ),
    "unset without a list": ('extends = "../base.toml"\n[unset]\nmodel = "heads"\n', ConfigError, "holds lists"),
    "set without a stage": ('extends = "../base.toml"\n[set]\nheads = 0\n', ConfigError, "holds fields"),
    "a base without stages": ('extends = "empty.toml"\n[set.model]\nheads = 0\n', ConfigError, "changes model, which"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_rejects_an_impossible_change(write, name):
    content, kind, fault = FAULTS[name]
    write("[[stage\n", "below/broken.toml")
    write("", "below/empty.toml")
    write('extends = "changed.toml"\n', "below/circle.toml")
    with pytest.raises(kind, match=fault):
        read_pipeline(write(content))
