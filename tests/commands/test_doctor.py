"""doctor: its findings, and an exit status that shows whether one is a fault."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from biorel import machine
from biorel.commands import doctor
from biorel.config.doctor import Doctor
from biorel.errors import ModelError, OutputError
from biorel.resources import resource
from tests.command_runs import command_line
from tests.servers import Reply, running

SERVICES = ("EUTILS", "PUBTATOR", "CTD", "MESH")


def states(findings):
    return {finding.name: finding.state for finding in findings}


@pytest.fixture
def quick(monkeypatch):
    """Replaces the checks that take seconds; other tests cover them."""
    monkeypatch.setattr(doctor, "check_packages", lambda: iter(()))
    for name in ("cdr", "linker", "tagger"):
        monkeypatch.setitem(doctor._SHIPPED_MODELS, name, lambda folder: "sound")


def test_a_sound_installation_has_no_fault(tmp_path, capsys):
    code, output, errors = command_line(capsys, "doctor", "--device", "cpu", "--out", tmp_path)
    assert (code, errors) == (0, "")
    lines = output.splitlines()
    for name in ("python", "package torch", "device", "disk", "shared memory", "model cdr", "model linker"):
        assert [line for line in lines if line.startswith("ok     ") and f"{name}: " in line], name
    assert "chemical_induced_disease" in output
    assert not [line for line in lines if line.startswith("fault")]
    assert list(tmp_path.iterdir()) == []


def test_json_output_holds_the_findings(quick, capsys):
    code, output, _ = command_line(capsys, "doctor", "--json", "--device", "cpu")
    found = json.loads(output)
    assert code == 0
    assert {tuple(finding) for finding in found} == {("name", "state", "text", "hint")}
    assert {"python", "device", "disk", "model tagger"} <= {finding["name"] for finding in found}


def test_reports_every_fault_and_exits_with_status_1(quick, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(
        doctor._SHIPPED_MODELS, "cdr", lambda folder: (_ for _ in ()).throw(ModelError("broken", "mend it"))
    )
    code, output, _ = command_line(capsys, "doctor", "--device", "cuda:7", "--out", "/proc/none", "--model", tmp_path)
    assert code == 1
    faults = [line.split(":")[0].removeprefix("fault  ") for line in output.splitlines() if line.startswith("fault")]
    assert faults == ["device", "disk", "model cdr", f"model {tmp_path}"]
    assert "       hint: mend it" in output.splitlines()


@pytest.mark.parametrize(
    ("requirement", "state", "words"),
    [
        ("no-such-package-anywhere>=1", machine.FAULT, "not installed"),
        ("numpy<1", machine.FAULT, "biorel needs numpy<1"),
        ('numpy<1; extra == "scispacy"', machine.NOTE, "biorel needs numpy<1"),
        ('no-such-package-anywhere; extra == "export"', machine.NOTE, "not installed"),
        ("numpy>=1", machine.OK, "."),
    ],
)
def test_checks_versions_of_packages(requirement, state, words):
    (finding,) = machine.check_packages([requirement])
    assert finding.state == state
    assert words in finding.text
    assert bool(finding.hint) == (state != machine.OK)


def test_ignores_packages_for_developers():
    assert not list(machine.check_packages(['pytest>=99; extra == "dev"', 'biorel[export]; extra == "dev"']))


def test_a_package_that_cannot_be_imported_is_a_fault(monkeypatch):
    monkeypatch.setitem(sys.modules, "lxml", None)
    (finding,) = machine.check_packages(["lxml"])
    assert (finding.state, "cannot be imported" in finding.text) == (machine.FAULT, True)


def test_without_torch_the_other_checks_still_run(quick, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    found = states(doctor.run(Doctor()).details["findings"])
    assert found["device"] == machine.FAULT
    assert found["disk"] == machine.OK


def test_a_device_that_computes_a_wrong_product_is_a_fault(monkeypatch):
    monkeypatch.setattr(machine, "_PROBE", 2**9)  # a product beyond what bfloat16 can count
    import torch

    real = torch.ones
    monkeypatch.setattr(torch, "ones", lambda *sizes, **options: real(*sizes, **options) * 1.01)
    assert machine.check_device("cpu").state == machine.FAULT


def test_a_gpu_that_torch_cannot_use_is_a_note(tmp_path, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr(machine, "_GPU", tmp_path)
    assert machine.check_device("auto").state == machine.NOTE
    assert machine.check_device("cpu").state == machine.OK


def test_checks_disk_and_shared_memory(tmp_path, monkeypatch):
    assert machine.check_disk("disk", tmp_path / "not" / "yet").state == machine.OK
    assert not (tmp_path / "not").exists()
    with pytest.raises(OutputError, match="/proc: cannot be written"):
        machine.check_disk("disk", Path("/proc"))
    assert machine.check_shared_memory(tmp_path / "none").state == machine.NOTE
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1e6, total=64e6))
    assert machine.check_disk("disk", tmp_path).state == machine.NOTE
    assert "--shm-size" in machine.check_shared_memory(tmp_path).hint


def test_a_damaged_model_is_a_fault(tmp_path):
    shutil.copytree(resource("models", "cdr"), tmp_path / "model")
    weights = tmp_path / "model" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    findings = doctor.run(Doctor(model=tmp_path / "model")).details["findings"]
    (finding,) = (finding for finding in findings if finding.name == f"model {tmp_path / 'model'}")
    assert (finding.state, "not a safetensors file" in finding.text) == (machine.FAULT, True)
    assert states(findings)["model cdr"] == machine.OK


def test_asks_services_only_with_network(quick, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with running() as server:
        for name in SERVICES:
            monkeypatch.setenv(f"BIOREL_{name}_URL", f"{server.url}/{name.lower()}")
        server.on("/eutils", Reply(b"", 503))
        server.on("/mesh", Reply(b"", 302, {"Location": "http://hotel.example/login"}))
        server.on("/ctd", Reply(reset=True))
        assert not [name for name in states(doctor.run(Doctor()).details["findings"]) if name.startswith("network")]
        assert server.requests == []
        found = {finding.name: finding for finding in doctor.run(Doctor(network=True)).details["findings"]}
    # a service that is busy, or has nothing at its base address, is there
    assert found["network eutils"].state == found["network pubtator"].state == machine.OK
    assert found["network ctd"].state == found["network mesh"].state == machine.FAULT
    assert "hotel.example" in found["network mesh"].text


def test_a_service_that_cannot_be_reached_is_a_fault(quick, monkeypatch):
    for name in SERVICES:
        monkeypatch.setenv(f"BIOREL_{name}_URL", "http://127.0.0.1:1/")
    found = states(doctor.run(Doctor(network=True)).details["findings"])
    assert {state for name, state in found.items() if name.startswith("network")} == {machine.FAULT}
