"""Networks on disk: weights as safetensors, sizes as plain values. No pickle."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from biorel.errors import ModelError, OutputError
from biorel.model.bran import Bran, BranConfig
from biorel.model.ensemble import Ensemble, Network

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

S = TypeVar("S", bound="DataclassInstance")

_ARCHITECTURE = re.compile(r"(sm|compute)_(\d+)")

# sizes that came later than the first models; where config.json lacks one, it has its default
LATER = frozenset(
    {
        *("branches", "graph_features", "soft_positions", "visible_matrix"),
        *("bert", "cls_id", "sep_id", "gradient_checkpointing", "mixed_precision", "task"),
    }
)


def save_weights(model: nn.Module, path: Path) -> None:
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


def load_weights(model: nn.Module, path: Path) -> None:
    """Read all parameters and buffers of a network; it is left in evaluation mode.

    Raises:
        ModelError: missing, not safetensors, or made for other sizes.
    """
    if not path.is_file():
        raise ModelError(f"{path}: no such file", "a model folder holds model.safetensors; train one with biorel train")
    weights = read_weights(path)
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
        return Bran(sizes_from_dict(BranConfig, values.get("sizes", {}), later=LATER))
    members = values.get("members")
    if not isinstance(members, list) or not all(isinstance(member, dict) for member in members):
        raise ModelError("config.json: an ensemble without its members", "was it written by this version of biorel?")
    try:
        return Ensemble([Bran(sizes_from_dict(BranConfig, member, later=LATER)) for member in members])
    except ValueError as error:
        raise ModelError(f"config.json: {error}", "make it anew with biorel ensemble") from error


def read_weights(path: Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file, on the CPU.

    Raises:
        ModelError: unreadable or not safetensors.
    """
    try:
        return load_file(path, device="cpu")
    except (SafetensorError, OSError) as error:
        raise ModelError(f"{path}: not a safetensors file ({error})") from error


def sizes_to_dict(sizes: DataclassInstance) -> dict[str, Any]:
    """The sizes as plain values for JSON."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(sizes).items()}


def sizes_from_dict(
    kind: type[S], values: Mapping[str, Any], place: str = "config.json", later: frozenset[str] = frozenset()
) -> S:
    """The sizes from plain values.

    Args:
        place: where the values stand.
        later: names that may be missing, which have their defaults then.

    Raises:
        ModelError: a name that is missing or unknown.
    """
    names = {field.name for field in fields(kind)}
    odd = sorted((set(values) ^ names) - (later - set(values)))
    if odd:
        raise ModelError(f"{place}: {', '.join(odd)} missing or unknown", "was it written by this version of biorel?")
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})


def pick_device(name: str) -> torch.device:
    """`auto` is the first CUDA device where there is one; the choice is made at run time only.

    Raises:
        ModelError: the device asked for cannot be used here.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    device = torch.device(name)
    if device.type == "cuda" and torch.cuda.is_available():
        _check_card(device)
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


def _check_card(device: torch.device) -> None:
    """Raises:
    ModelError: the installed torch has no kernels for the card; else that shows in mid-training only.
    """
    built = torch.cuda.get_arch_list()
    major, minor = torch.cuda.get_device_capability(device)
    versions = [(kind, int(digits[:-1]), int(digits[-1])) for kind, digits in _ARCHITECTURE.findall(" ".join(built))]
    # binaries run on cards of their major version from their minor one on; PTX on all later cards
    runs = any(
        (kind == "compute" and (one, two) <= (major, minor)) or (one == major and two <= minor)
        for kind, one, two in versions
    )
    if versions and not runs:
        raise ModelError(
            f"device {device} ({torch.cuda.get_device_name(device)}) needs sm_{major}{minor}; this torch is built for "
            f"{', '.join(built)}",
            "install the torch wheel for this card's CUDA (https://pytorch.org/get-started), or use --device cpu",
        )
