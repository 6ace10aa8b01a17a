"""A training run on disk, so that one that is killed goes on to the same weights.

One safetensors file holds the weights, their average, the optimizer's moments, the best average so far and the
states of the random generators; its metadata holds the plain values as JSON. It is written aside, synced and moved,
so that there is always a whole one.
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
    """All that changes while a network trains.

    Attributes:
        epoch: epochs finished.
        epoch_step: steps of the present epoch done.
        step: steps done in all.
        sums: running sums of the present epoch (losses, documents, seconds).
        best: the averaged weights with the best dev score, empty before the first evaluation.
        best_score, best_epoch: that score, 0 or more and better when higher, and its epoch (from 1).
        best_thresholds: the thresholds tuned with it, where there are any.
        history: one row per finished epoch.
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
    """Write the state; `key` tells the run (its configuration and data) that it belongs to."""
    tensors: dict[str, Tensor] = {f"model/{name}": value for name, value in state.model.state_dict().items()}
    tensors |= {f"average/{name}": value for name, value in state.average.shadow.items()}
    tensors |= {f"best/{name}": value for name, value in state.best.items()}
    for number, moments in state.optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer/{number}/{name}": value for name, value in moments.items()}
    tensors["random/cpu"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["random/cuda"] = torch.cuda.get_rng_state()
    plain = {name: getattr(state, name) for name in _PLAIN} | {"average_updates": state.average.updates, "key": key}
    aside = folder / f"{FILE}.tmp"
    write_tensors(
        {name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()},
        aside,
        metadata={"state": json.dumps(plain)},
    )
    with aside.open("rb") as stream:
        os.fsync(stream.fileno())
    aside.replace(folder / FILE)


def restore_state(state: TrainingState, folder: Path, key: str) -> bool:
    """Bring a freshly built state to where the run was; False where there is no checkpoint.

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
        raise ModelError(f"{path}: damaged checkpoint ({error})", f"remove {folder} to begin anew") from error
    if plain["key"] != key:
        raise of_another_run(path, folder)
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


def of_another_run(path: Path, folder: Path) -> ModelError:
    """What to say of a checkpoint that this run cannot go on from; `folder` is what to remove."""
    return ModelError(
        f"{path}: left by a run with other data or parameters",
        f"give the same command again to resume it, or remove {folder} to begin anew",
    )


def resume_state(state: TrainingState, folder: Path, key: str, *, force: bool) -> bool:
    """Go on from a checkpoint of this run; one of another run stops the command, or is dropped with `force`.

    Args:
        folder: made where it is not there yet.

    Raises:
        ModelError: as `restore_state`, without `force`.
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
