"""Save and resume a training run. A run that is killed and resumed ends with the same weights as without the stop.

One safetensors file holds the weights, their average, the optimizer's moments, the best average so far and the
states of the random generators; its metadata holds the plain values as JSON. It is written under another name, synced
and renamed, so that there is always a complete file.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor, nn

from biorel.errors import ModelError
from biorel.model.checkpoint import write_tensors
from biorel.training.optim import WeightAverage

FOLDER, FILE = "checkpoint", "training.safetensors"


@dataclass
class TrainingState:
    """Everything that changes while a network trains.

    Attributes:
        epoch: epochs finished.
        epoch_step: steps finished in the present epoch.
        step: steps finished in all epochs.
        sums: running sums over the present epoch (losses, units, seconds).
        best: the averaged weights with the best dev score; empty before the first evaluation.
        best_score: that score; higher is better, and a score is never negative.
        best_epoch: its epoch, counted from 1.
        best_thresholds: its thresholds, where there are any.
        history: one row for each finished epoch.
    """

    model: nn.Module
    optimizer: torch.optim.AdamW
    average: WeightAverage
    epoch: int = 0
    epoch_step: int = 0
    step: int = 0
    sums: dict[str, float] = field(default_factory=dict)
    best: dict[str, Tensor] = field(default_factory=dict)
    best_score: float = -1.0
    best_epoch: int = 0
    best_thresholds: dict[str, float] = field(default_factory=dict)
    history: list[dict[str, float]] = field(default_factory=list)


_PLAIN = ("epoch", "epoch_step", "step", "sums", "best_score", "best_epoch", "best_thresholds", "history")


def save_state(state: TrainingState, folder: Path, key: str) -> None:
    """Write the state.

    Args:
        key: identifies the run by its configuration and data.
    """
    tensors: dict[str, Tensor] = {f"model/{name}": value for name, value in state.model.state_dict().items()}
    tensors |= {f"average/{name}": value for name, value in state.average.shadow.items()}
    tensors |= {f"best/{name}": value for name, value in state.best.items()}
    for number, moments in state.optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer/{number}/{name}": value for name, value in moments.items()}
    tensors["random/cpu"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["random/cuda"] = torch.cuda.get_rng_state()
    plain = {name: getattr(state, name) for name in _PLAIN} | {"average_updates": state.average.updates, "key": key}
    partial = folder / f"{FILE}.tmp"
    write_tensors(
        {name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()},
        partial,
        metadata={"state": json.dumps(plain)},
    )
    with partial.open("rb") as stream:
        os.fsync(stream.fileno())
    partial.replace(folder / FILE)


def restore_state(state: TrainingState, folder: Path, key: str) -> bool:
    """Load the checkpoint into a new state; returns False if there is no checkpoint.

    Raises:
        ModelError: the checkpoint is damaged or belongs to another run.
    """
    path = folder / FILE
    if not path.is_file():
        return False
    try:
        with safe_open(path, framework="pt") as file:
            plain: dict[str, Any] = json.loads(file.metadata()["state"])
        tensors = load_file(path, device="cpu")
    except (SafetensorError, OSError, KeyError, TypeError, json.JSONDecodeError) as error:
        raise ModelError(f"{path}: damaged checkpoint ({error})", f"remove {folder} to start again") from error
    if plain["key"] != key:
        raise foreign_checkpoint(path, folder)
    state.model.load_state_dict(_part(tensors, "model/"))
    device = next(state.model.parameters()).device
    state.average.shadow = {name: value.to(device) for name, value in _part(tensors, "average/").items()}
    state.average.updates = plain["average_updates"]
    state.best = _part(tensors, "best/")
    optimizer = state.optimizer.state_dict()
    optimizer["state"] = {}
    for name, value in _part(tensors, "optimizer/").items():
        number, moment = name.split("/")
        optimizer["state"].setdefault(int(number), {})[moment] = value
    state.optimizer.load_state_dict(optimizer)
    for name in _PLAIN:
        setattr(state, name, plain[name])
    torch.set_rng_state(tensors["random/cpu"])
    if "random/cuda" in tensors and torch.cuda.is_available():
        torch.cuda.set_rng_state(tensors["random/cuda"])
    return True


def foreign_checkpoint(path: Path, folder: Path) -> ModelError:
    """The error for a checkpoint of another run.

    Args:
        folder: the folder that the user can remove.
    """
    return ModelError(
        f"{path}: the unfinished training here belongs to a run with other data or parameters",
        f"repeat the command of that run to resume it, or remove {folder} to start again",
    )


def resume_state(state: TrainingState, folder: Path, key: str, *, force: bool) -> bool:
    """Resume from the checkpoint of this run; returns False if there is no checkpoint.

    Args:
        folder: created where it is missing.
        force: remove a checkpoint that cannot be used, instead of raising an error.

    Raises:
        ModelError: as `restore_state`, unless `force`.
    """
    folder.mkdir(exist_ok=True)
    try:
        return restore_state(state, folder, key)
    except ModelError:
        if not force:
            raise
        (folder / FILE).unlink()
        return False


def discard_state(folder: Path) -> None:
    """Remove the checkpoint of a finished run, and its folder."""
    (folder / FILE).unlink()
    folder.rmdir()


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
