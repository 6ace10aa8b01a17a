"""Networks on disk: weights as safetensors, sizes as plain values. No pickle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from biorel.errors import ModelError, OutputError
from biorel.model.bran import Bran, Sizes


def save_weights(model: Bran, path: Path) -> None:
    """Write all parameters and buffers; on the CPU, whatever the device."""
    write_tensors({name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}, path)


def write_tensors(tensors: dict[str, torch.Tensor], path: Path, metadata: dict[str, str] | None = None) -> None:
    """Write a safetensors file.

    Raises:
        OutputError: it cannot be written; safetensors has an error of its own for a full disk.
    """
    try:
        save_file(tensors, path, metadata=metadata)
    except SafetensorError as error:
        raise OutputError(f"{path}: cannot be written ({error})", "check the space and the permissions") from error


def load_model(sizes: Sizes, path: Path) -> Bran:
    """The network with its weights, on the CPU, in evaluation mode.

    Raises:
        ModelError: missing, not safetensors, or made for other sizes.
    """
    if not path.is_file():
        raise ModelError(f"{path}: no such file", "a model folder holds model.safetensors; train one with biorel train")
    model = Bran(sizes)
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
    return model.eval()


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
