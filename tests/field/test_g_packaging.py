"""G: installed packages, available devices, containers."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib

import pytest
import torch

from biorel.config.evaluate import Evaluate
from biorel.config.extract import Extract
from biorel.config.train import Train
from biorel.errors import ConfigError, ModelError
from biorel.model.device import pick_device
from biorel.ner.spacy_model import load_spacy
from tests.command_runs import REPOSITORY, SAMPLE, read_json_lines
from tests.ner.test_spacy_model import pipeline
from tests.test_architecture import TREES


def test_g_01_names_the_command_that_installs_spacy(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(ConfigError, match="spacy is not installed") as caught:
        load_spacy("en_core_sci_sm")
    assert caught.value.hint.startswith("pip install")


def test_g_01_names_the_command_that_installs_scispacy(tmp_path, monkeypatch):
    pipeline().to_disk(tmp_path / "model")
    monkeypatch.setitem(sys.modules, "scispacy", None)
    monkeypatch.setitem(sys.modules, "scispacy.abbreviation", None)
    with pytest.raises(ConfigError, match="scispacy is not installed") as caught:
        load_spacy(str(tmp_path / "model"), abbreviations=True)
    assert "biorel[scispacy]" in caught.value.hint


def test_g_01_bounds_the_dependencies_of_scispacy():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert any(re.fullmatch(r"pyarrow>=[\d.]+,<26", requirement) for requirement in project["dependencies"])
    assert "numpy<2" in project["optional-dependencies"]["scispacy"]
    assert not [requirement for requirement in project["dependencies"] if requirement.startswith("scispacy")]


SMALL = """
import sys, json
from biorel.cli.app import main
sys.argv = ["biorel", *{arguments!r}]
try:
    main()
except SystemExit as end:
    print("CODE", end.code)
print("LOADED", *sorted(name for name in ("spacy", "scispacy", "nmslib", "thinc") if name in sys.modules))
"""


@pytest.mark.parametrize("command", ["--help", "tag --help", "extract"])
def test_g_01_loads_spacy_only_for_tagging(tmp_path, command):
    words = command.split()
    if command == "extract":
        # records that already have entities
        words += [str(SAMPLE / "abstracts.jsonl"), "--out", str(tmp_path / "r.jsonl")]
    code = SMALL.format(arguments=words)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.splitlines()[-1] == "LOADED"
    assert command != "extract" or read_json_lines(tmp_path / "r.jsonl")


def test_g_02_chooses_the_device_when_a_command_runs():
    """Neither importing a module nor building the image looks for a GPU."""
    asked = []
    for tree in TREES.values():
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        inside = {id(node) for function in functions for node in ast.walk(function)}
        outside = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and id(node) not in inside)
        asked += [ast.unparse(node) for node in outside if ast.unparse(node).startswith("torch.cuda.")]
    assert not asked
    image = (REPOSITORY / "Dockerfile").read_text()
    steps = [line for line in image.splitlines() if line.startswith(("RUN", "ENV", "ARG", "FROM"))]
    assert not [line for line in steps if re.search(r"cuda\.is_available|nvidia-smi|CUDA_VISIBLE", line)]
    assert any(line.startswith("ARG TORCH_INDEX=") for line in steps)


@pytest.mark.parametrize(("there", "device"), [(False, "cpu"), (True, "cuda")])
def test_g_02_auto_is_the_available_device(monkeypatch, there, device):
    real = torch.ones
    monkeypatch.setattr(torch.cuda, "is_available", lambda: there)
    monkeypatch.setattr(torch.cuda, "get_arch_list", list)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (9, 0))
    monkeypatch.setattr(torch, "ones", lambda *size, device=None: real(*size))
    assert pick_device("auto").type == device


@pytest.fixture
def card(monkeypatch):
    """A card with this capability, and a torch that is built for these."""

    def _card(capability, *built):
        real = torch.ones
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "Card 9000")
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
        monkeypatch.setattr(torch.cuda, "get_arch_list", lambda: list(built))
        monkeypatch.setattr(torch, "ones", lambda *size, device=None: real(*size))

    return _card


@pytest.mark.parametrize(
    ("capability", "built"),
    [
        ((9, 9), ["sm_80", "sm_100"]),
        ((12, 0), ["sm_80", "sm_90a"]),
        ((6, 1), ["sm_70", "compute_90"]),
        ((9, 0), ["sm_95"]),
    ],
)
@pytest.mark.parametrize("name", ["auto", "cuda", "cuda:1"])
def test_g_04_reports_a_card_without_kernels_before_any_work(card, capability, built, name):
    card(capability, *built)
    with pytest.raises(ModelError, match=rf"Card 9000\) needs sm_{capability[0]}{capability[1]}.*{built[0]}") as caught:
        pick_device(name)
    assert "wheel for this card's CUDA" in caught.value.hint
    assert "--device cpu" in caught.value.hint


@pytest.mark.parametrize(
    ("capability", "built"),
    [((9, 0), ["sm_80", "sm_90"]), ((8, 6), ["sm_80"]), ((12, 0), ["sm_90", "compute_90"]), ((9, 9), [])],
)
def test_g_04_uses_a_card_with_a_compatible_kernel(card, capability, built):
    card(capability, *built)
    assert pick_device("cuda").type == "cuda"


def test_g_04_reports_a_failing_first_operation(card, monkeypatch):
    card((9, 0), "sm_90")

    def broken(*size, device=None):
        raise RuntimeError("CUDA error: no kernel image is available for execution on the device\nmore")

    monkeypatch.setattr(torch, "ones", broken)
    with pytest.raises(ModelError, match="no kernel image") as caught:
        pick_device("cuda")
    assert "--device cpu" in caught.value.hint


def test_g_05_nothing_needs_shared_memory_and_the_guide_says_so():
    """There are no loader workers, so no batch goes through /dev/shm."""
    words = {node.id for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.Name)}
    words |= {
        node.arg for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg
    }
    assert not words & {"DataLoader", "num_workers", "share_memory_"}
    assert "--shm-size" in (REPOSITORY / "docs" / "guide" / "scale.md").read_text()


@pytest.mark.parametrize("command", ["train", "evaluate", "extract"])
def test_g_05_no_command_has_an_option_for_loader_workers(command):
    kind = {"train": Train, "evaluate": Evaluate, "extract": Extract}[command]
    assert not [name for name in kind.model_fields if "worker" in name]
