"""Training that gives the same bits in every run, where the device's operations can."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from biorel.errors import ModelError

_WORKSPACE = "CUBLAS_WORKSPACE_CONFIG"


@contextmanager
def deterministic(wanted: bool) -> Iterator[None]:
    """Within the context torch takes only operations that repeat bit for bit, if `wanted`; enter it before CUDA starts.

    On a CPU one seed gives one result without this, too. On CUDA cuBLAS needs its workspace fixed, which it reads from
    the environment when it starts.

    Raises:
        ModelError: an operation has no such form on this device.
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
            f"--deterministic: {str(error).splitlines()[0]}", "leave --deterministic out, or use --device cpu"
        ) from error
    finally:
        torch.use_deterministic_algorithms(before)
