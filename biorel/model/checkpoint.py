"""Save and load networks: weights as safetensors, configurations as plain values. Pickle is never used.

Folders that earlier versions wrote use other names for some options and weights. `OLD_CONFIG_NAMES` and
`OLD_WEIGHT_NAMES` map them to the present ones when a folder is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
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

C = TypeVar("C", bound="DataclassInstance")

OLD_CONFIG_NAMES = {"sizes": "config", "units": "span_pooling", "cues": "lexical_features"}
OLD_WEIGHT_NAMES = (
    (re.compile(r"\breranker\.cue_weights$"), "reranker.lexical_weights"),
    (re.compile(r"\breranker\.rival_(weights|bias)$"), r"reranker.competing_\1"),
    (re.compile(r"(^|\.)features\.(inner|outer)\."), r"\1pair_features.\2."),
)
# the attention and the convolutions of all blocks were one flat list, `halves`; in a reader below `encoder.passage`
_HALF = re.compile(r"^(.*\bencoder\.(?:passage\.)?)halves\.(\d+)\.")

# fields of BranConfig that the first models lack; they have their defaults there
_OPTIONAL = frozenset(
    {
        *("branches", "graph_features", "soft_positions", "visible_matrix"),
        *("bert", "cls_id", "sep_id", "gradient_checkpointing", "mixed_precision", "task"),
    }
)


def save_weights(model: nn.Module, path: Path) -> None:
    """Write all parameters and buffers, as CPU tensors.

    Raises:
        OutputError: as `write_tensors`.
    """
    write_tensors({name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}, path)


def write_tensors(tensors: dict[str, torch.Tensor], path: Path, metadata: dict[str, str] | None = None) -> None:
    """Write a safetensors file.

    Raises:
        OutputError: the file cannot be written; on a full disk safetensors raises an exception that is no OSError.
    """
    try:
        save_file(tensors, path, metadata=metadata)
    except SafetensorError as error:
        raise OutputError(f"{path}: cannot be written ({error})", "check the space and the permissions") from error


def load_weights(model: nn.Module, path: Path) -> None:
    """Read all parameters and buffers of a network, and put it in evaluation mode.

    Raises:
        ModelError: the file is missing, is not safetensors, or belongs to another configuration.
    """
    if not path.is_file():
        raise ModelError(
            f"{path}: no such file", "name a folder with model.safetensors, or train a model with biorel train"
        )
    weights = read_weights(path)
    expected = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    if expected != found:
        wrong = sorted({*expected.items()} ^ {*found.items()})[0][0]
        raise ModelError(
            f"{path}: does not match config.json ({wrong}: {found.get(wrong)}, expected {expected.get(wrong)})",
            "weights and config.json must come from one training run",
        )
    model.load_state_dict(weights)
    model.eval()


def read_weights(path: Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file, on the CPU, under their present names; old names are converted.

    Raises:
        ModelError: the file is unreadable or not safetensors.
    """
    try:
        tensors = load_file(path, device="cpu")
    except (SafetensorError, OSError) as error:
        raise ModelError(f"{path}: not a safetensors file ({error})") from error
    names = present_weight_names(tensors)
    return {names[name]: tensor for name, tensor in tensors.items()}


def present_weight_names(names: Iterable[str]) -> dict[str, str]:
    """Map each weight name, old or present, to the present name."""
    given = set(names)
    return {name: _present_weight_name(name, given) for name in given}


def _present_weight_name(name: str, names: set[str]) -> str:
    if half := _HALF.match(name):
        prefix, number = half[1], int(half[2])
        # with attention, every other half is the convolutions of a block
        has_attention = f"{prefix}halves.0.queries.weight" in names
        block, is_convolutions = divmod(number, 2) if has_attention else (number, 1)
        part = "convolutions" if is_convolutions else "attention"
        return f"{prefix}blocks.{block}.{part}.{name[half.end() :]}"
    for pattern, replacement in OLD_WEIGHT_NAMES:
        name = pattern.sub(replacement, name)
    return name


def network_to_dict(model: Network) -> dict[str, Any]:
    """The content of config.json: the kind of network and its configuration, or those of an ensemble's members."""
    if isinstance(model, Ensemble):
        return {"model": "ensemble", "members": [config_to_dict(member.config) for member in model.networks]}
    return {"model": "bran", "config": config_to_dict(model.config)}


def network_from_dict(values: Mapping[str, Any]) -> Network:
    """The network that `network_to_dict` describes, with random weights.

    Raises:
        ModelError: the values do not describe a network.
    """
    if values.get("model") != "ensemble":
        return Bran(_bran_config(with_present_names(values).get("config", {})))
    members = values.get("members")
    if not isinstance(members, list) or not all(isinstance(member, dict) for member in members):
        raise ModelError("config.json: an ensemble without members", "was it written by this version of biorel?")
    try:
        return Ensemble([Bran(_bran_config(member)) for member in members])
    except ValueError as error:
        raise ModelError(f"config.json: {error}", "join the members again with biorel ensemble") from error


def _bran_config(values: Mapping[str, Any]) -> BranConfig:
    return config_from_dict(BranConfig, with_present_names(values), optional=_OPTIONAL)


def with_present_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values under the present names of the options."""
    return {OLD_CONFIG_NAMES.get(name, name): value for name, value in values.items()}


def config_to_dict(config: DataclassInstance) -> dict[str, Any]:
    """A configuration as plain values for JSON."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(config).items()}


def config_from_dict(
    kind: type[C], values: Mapping[str, Any], place: str = "config.json", optional: frozenset[str] = frozenset()
) -> C:
    """A configuration from plain values.

    Args:
        place: the file that the values are from, for the message.
        optional: fields that may be missing and then have their defaults.

    Raises:
        ModelError: a field is missing or unknown.
    """
    names = {field.name for field in fields(kind)}
    wrong = sorted((set(values) ^ names) - (optional - set(values)))
    if wrong:
        raise ModelError(f"{place}: {', '.join(wrong)} missing or unknown", "was it written by this version of biorel?")
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})
