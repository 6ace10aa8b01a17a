"""Networks on disk: weights as safetensors, sizes as plain values. No pickle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from biorel.errors import ModelError
from biorel.model.bran import Bran, Sizes
from biorel.model.ensemble import Ensemble, Network


def save_weights(model: nn.Module, path: Path) -> None:
    """Write all parameters and buffers; on the CPU, whatever the device."""
    save_file({name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}, path)


def load_weights(model: nn.Module, path: Path) -> None:
    """Read all parameters and buffers of a network; it is left in evaluation mode.

    Raises:
        ModelError: missing, not safetensors, or made for other sizes.
    """
    if not path.is_file():
        raise ModelError(f"{path}: no such file", "a model folder holds model.safetensors; train one with biorel train")
    try:
        weights = load_file(path, device="cpu")
    except (SafetensorError, OSError) as error:
        raise ModelError(f"{path}: not a safetensors file ({error})") from error
    expected = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    if expected != found:
        wrong = sorted({*expected.items()} ^ {*found.items()})[0][0]
        raise ModelError(
            f"{path}: does not fit config.json ({wrong}: {found.get(wrong)} where {expected.get(wrong)} was expected)",
            "weights and config.json must come from one training run",
        )
    model.load_state_dict(weights)
    model.eval()


def network_to_dict(model: Network) -> dict[str, Any]:
    """What config.json holds: the kind of a network and its sizes, of an ensemble those of each member."""
    if isinstance(model, Ensemble):
        return {"model": "ensemble", "members": [sizes_to_dict(member.sizes) for member in model.networks]}
    return {"model": "bran", "sizes": sizes_to_dict(model.sizes)}


def network_from_dict(values: Mapping[str, Any]) -> Network:
    """The network again, with weights drawn anew.

    Raises:
        ModelError: not what `network_to_dict` wrote.
    """
    if values.get("model") != "ensemble":
        return Bran(sizes_from_dict(values.get("sizes", {})))
    members = values.get("members")
    if not isinstance(members, list) or not all(isinstance(member, dict) for member in members):
        raise ModelError("config.json: an ensemble without its members", "was it written by this version of biorel?")
    try:
        return Ensemble([Bran(sizes_from_dict(member)) for member in members])
    except ValueError as error:
        raise ModelError(f"config.json: {error}", "make it anew with biorel ensemble") from error


def sizes_to_dict(sizes: Sizes) -> dict[str, Any]:
    """The sizes as plain values for JSON."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(sizes).items()}


def sizes_from_dict(values: Mapping[str, Any]) -> Sizes:
    """The sizes from plain values.

    Raises:
        ModelError: a name that is missing or unknown.
    """
    names = {field.name for field in fields(Sizes)}
    if set(values) != names:
        odd = sorted(set(values) ^ names)
        raise ModelError(
            f"config.json: {', '.join(odd)} missing or unknown", "was it written by this version of biorel?"
        )
    plain: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    return Sizes(**plain)


def pick_device(name: str) -> torch.device:
    """`auto` is the first CUDA device where there is one; the choice is made at run time only.

    Raises:
        ModelError: the device asked for cannot be used here.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    device = torch.device(name)
    try:
        torch.ones(
            2, device=device
        ).sum().item()  # a wheel without kernels for the card fails here, not in mid-training
    except (RuntimeError, AssertionError) as error:
        raise ModelError(
            f"device {name} cannot be used ({str(error).splitlines()[0]})",
            "use --device cpu, or install the torch wheel for this card's CUDA",
        ) from error
    return device
