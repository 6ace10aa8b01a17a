"""Checks of the machine: Python, packages, device, disk, shared memory."""

from __future__ import annotations

import importlib
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from packaging.requirements import Requirement

from biorel import __version__
from biorel.errors import OutputError

OK, NOTE, FAULT = "ok", "note", "fault"
_OLDEST_PYTHON = (3, 11)
_GB = 1e9
_LITTLE_DISK, _LITTLE_SHARED = 2 * _GB, 0.25 * _GB
_SHARED = Path("/dev/shm")  # noqa: S108 - looked at, not written to
_GPU = Path("/dev/nvidia0")
_MODULES = {"pyahocorasick": "ahocorasick", "scikit-learn": "sklearn"}
_PROBE = 64


@dataclass(frozen=True)
class Finding:
    """What one look found; `state` is `ok`, `note` (biorel works, but) or `fault` (something needed fails)."""

    name: str
    state: str
    text: str
    hint: str = ""


def check_python() -> Finding:
    """The versions of biorel and Python."""
    text = f"biorel {__version__}, Python {platform.python_version()}, {platform.platform()}"
    if sys.version_info < _OLDEST_PYTHON:
        return Finding("python", FAULT, text, f"biorel needs Python {'.'.join(map(str, _OLDEST_PYTHON))} or later")
    return Finding("python", OK, text)


def check_packages(required: list[str] | None = None) -> Iterator[Finding]:
    """Each package that biorel needs, imported, and each that an extra would add: present, and of a version that fits.

    Args:
        required: requirements as pip writes them  [default: those that this installation of biorel names].
    """
    for line in requires("biorel") or [] if required is None else required:
        wanted = Requirement(line)
        extra = "" if wanted.marker is None else str(wanted.marker).rpartition("==")[2].strip(" \"'")
        if extra == "dev" or wanted.name == "biorel":
            continue
        yield _package(wanted, extra)


def _package(wanted: Requirement, extra: str) -> Finding:
    name = f"package {wanted.name}" + (f" (for biorel[{extra}] only)" if extra else "")
    absent = NOTE if extra else FAULT
    needed = f"{wanted.name}{wanted.specifier}"
    hint = f"pip install 'biorel[{extra}]'" if extra else f"pip install '{needed}'"
    try:
        found = version(wanted.name)
    except PackageNotFoundError:
        return Finding(name, absent, "not installed", hint)
    if not wanted.specifier.contains(found, prereleases=True):
        return Finding(name, absent, f"{found}, and {needed} is needed", hint)
    if not extra:
        try:
            importlib.import_module(_MODULES.get(wanted.name, wanted.name))
        except (ImportError, OSError) as error:
            return Finding(name, FAULT, f"{found} does not import: {str(error).splitlines()[0]}", hint)
    return Finding(name, OK, found)


def check_device(name: str) -> Finding:
    """The device, after a product of two small matrices on it.

    Raises:
        ModelError: it cannot be used.
        ImportError, OSError: torch cannot be imported.
    """
    import torch

    from biorel.model.device import pick_device

    chosen = pick_device(name)
    ones = torch.ones(_PROBE, _PROBE, device=chosen)
    total = float((ones @ ones).sum())
    if total != _PROBE**3:
        return Finding("device", FAULT, f"{chosen} multiplies wrongly ({total} where {_PROBE**3} was expected)")
    if chosen.type == "cuda":
        card = torch.cuda.get_device_properties(chosen)
        return Finding(
            "device", OK, f"{chosen}: {card.name}, {card.total_memory / _GB:.0f} GB, CUDA {torch.version.cuda}"
        )
    text = f"cpu, {torch.get_num_threads()} threads"
    if name == "auto" and _GPU.exists():
        return Finding(
            "device", NOTE, f"{text}; there is a GPU that torch cannot use", "install a torch wheel with CUDA"
        )
    return Finding("device", OK, text)


def check_disk(name: str, folder: Path) -> Finding:
    """The free space of a folder, or of the nearest one above it that is there, after something was written to it.

    Raises:
        OutputError: nothing can be written there.
    """
    place = folder.resolve()
    while not place.is_dir():
        place = place.parent
    try:
        with tempfile.TemporaryFile(dir=place) as stream:
            stream.write(bytes(2**20))
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        raise OutputError(f"{place}: cannot be written ({error.strerror or error})", "choose another folder") from error
    free = shutil.disk_usage(place).free
    text = f"{place}: {free / _GB:.1f} GB free"
    if free < _LITTLE_DISK:
        return Finding(name, NOTE, text, "CTD and MeSH take a gigabyte, PubMed's baseline some fifty")
    return Finding(name, OK, text)


def check_shared_memory(folder: Path = _SHARED) -> Finding:
    """The shared memory that worker processes talk through."""
    if not folder.is_dir():
        return Finding("shared memory", NOTE, f"no {folder} here", "leave --n-process at 1")
    size = shutil.disk_usage(folder).total
    text = f"{folder}: {size / _GB:.2f} GB"
    if size < _LITTLE_SHARED:
        return Finding("shared memory", NOTE, text, "for --n-process over 1: docker run --shm-size 1g")
    return Finding("shared memory", OK, text)
