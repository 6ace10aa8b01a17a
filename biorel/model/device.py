"""Choose the device that a network runs on, and make its operations deterministic."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from biorel.errors import ModelError

_ARCHITECTURE = re.compile(r"(sm|compute)_(\d+)")
_WORKSPACE = "CUBLAS_WORKSPACE_CONFIG"


def pick_device(name: str) -> torch.device:
    """The device with this name. `auto` is the first CUDA device, or the CPU if there is no CUDA device.

    Raises:
        ModelError: the device cannot be used.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    device = torch.device(name)
    if device.type == "cuda" and torch.cuda.is_available():
        _check_card(device)
    try:
        # a wheel without kernels for the card fails here rather than in the middle of a training
        torch.ones(2, device=device).sum().item()
    except (RuntimeError, AssertionError) as error:
        raise ModelError(
            f"device {name} cannot be used ({str(error).splitlines()[0]})",
            "use --device cpu, or install the torch wheel for this card's CUDA",
        ) from error
    return device


def _check_card(device: torch.device) -> None:
    """Check that the installed torch has kernels for the card, which otherwise shows only in the middle of a training.

    Raises:
        ModelError: torch has no kernels for the card.
    """
    built = torch.cuda.get_arch_list()
    major, minor = torch.cuda.get_device_capability(device)
    versions = [(kind, int(digits[:-1]), int(digits[-1])) for kind, digits in _ARCHITECTURE.findall(" ".join(built))]
    # a binary runs on cards of its major version and the same or a later minor one; PTX runs on all later cards
    runs = any(
        (kind == "compute" and (built_major, built_minor) <= (major, minor))
        or (built_major == major and built_minor <= minor)
        for kind, built_major, built_minor in versions
    )
    if versions and not runs:
        raise ModelError(
            f"device {device} ({torch.cuda.get_device_name(device)}) needs sm_{major}{minor}; this torch is built for "
            f"{', '.join(built)}",
            "install the torch wheel for this card's CUDA (https://pytorch.org/get-started), or use --device cpu",
        )


@contextmanager
def deterministic(wanted: bool) -> Iterator[None]:
    """Within the context, if `wanted`, torch uses only operations that repeat bit for bit. Enter it before CUDA starts.

    On a CPU one seed gives one result in any case. On CUDA, cuBLAS also needs a fixed workspace, which it reads from
    the environment when it starts.

    Raises:
        ModelError: an operation has no deterministic form on this device.
    """
    if not wanted:
        yield
        return
    os.environ.setdefault(_WORKSPACE, ":4096:8")
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        yield
    except RuntimeError as error:
        if "deterministic" not in str(error):
            raise
        raise ModelError(
            f"--deterministic: {str(error).splitlines()[0]}", "leave out --deterministic, or use --device cpu"
        ) from error
    finally:
        torch.use_deterministic_algorithms(before)
