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
_SHARED = Path("/dev/shm")  # noqa: S108 - read, not written to
_GPU = Path("/dev/nvidia0")
_MODULES = {"pyahocorasick": "ahocorasick", "scikit-learn": "sklearn"}
_PROBE = 64


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    Attributes:
        state: `ok`, `note` (biorel works, with a limitation) or `fault` (something that biorel needs does not work).
        hint: how to correct it; may be empty.
    """

    name: str
    state: str
    text: str
    hint: str = ""


def check_python() -> Finding:
    """Check the version of Python."""
    text = f"biorel {__version__}, Python {platform.python_version()}, {platform.platform()}"
    if sys.version_info < _OLDEST_PYTHON:
        return Finding("python", FAULT, text, f"biorel needs Python {'.'.join(map(str, _OLDEST_PYTHON))} or later")
    return Finding("python", OK, text)


def check_packages(required: list[str] | None = None) -> Iterator[Finding]:
    """Check every required package: its version, and that it can be imported. Of optional packages only the version.

    Args:
        required: requirements in pip's syntax. The default is the requirements of this installation of biorel.
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
        return Finding(name, absent, f"{found} is installed; biorel needs {needed}", hint)
    if not extra:
        try:
            importlib.import_module(_MODULES.get(wanted.name, wanted.name))
        except (ImportError, OSError) as error:
            return Finding(name, FAULT, f"{found} cannot be imported: {str(error).splitlines()[0]}", hint)
    return Finding(name, OK, found)


def check_device(name: str) -> Finding:
    """Check the device by multiplying two small matrices on it.

    Raises:
        ModelError: the device cannot be used.
        ImportError, OSError: torch cannot be imported.
    """
    import torch

    from biorel.model.device import pick_device

    chosen = pick_device(name)
    ones = torch.ones(_PROBE, _PROBE, device=chosen)
    total = float((ones @ ones).sum())
    if total != _PROBE**3:
        return Finding("device", FAULT, f"{chosen} computes a wrong product ({total} instead of {_PROBE**3})")
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
    """Check that a folder, or its nearest existing parent, can be written to and has free space.

    Raises:
        OutputError: the folder cannot be written to.
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
        return Finding(name, NOTE, text, "CTD and MeSH need about 1 GB, PubMed's baseline about 50 GB")
    return Finding(name, OK, text)


def check_shared_memory(folder: Path = _SHARED) -> Finding:
    """Check the shared memory, through which worker processes exchange data."""
    if not folder.is_dir():
        return Finding("shared memory", NOTE, f"{folder} does not exist", "do not raise --n-process above 1")
    size = shutil.disk_usage(folder).total
    text = f"{folder}: {size / _GB:.2f} GB"
    if size < _LITTLE_SHARED:
        return Finding(
            "shared memory", NOTE, text, "for --n-process above 1, start the container with: docker run --shm-size 1g"
        )
    return Finding("shared memory", OK, text)
