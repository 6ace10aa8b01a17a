"""The model folder of a reader, or of the readers of several folds, which are averaged.

model.safetensors  weights of all members      tokenizer.json  BPE      decoding.json  chosen on dev
config.json        sizes of each member        metrics.json, README.md
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import nn

from biorel.artifacts import read_json_object, write_json
from biorel.errors import ModelError
from biorel.model.checkpoint import load_weights, save_weights, sizes_from_dict, sizes_to_dict
from biorel.qa.decoding import Decoding
from biorel.qa.network import ENCODERS, HEADS, Reader
from biorel.qa.passages import PassageWindower
from biorel.qa.sizes import ReaderConfig
from biorel.text.tokenizer import load_tokenizer, save_tokenizer

KIND = "reader"


@dataclass(frozen=True)
class ReaderFolder:
    """Readers of one vocabulary with the way in which their answers are read out."""

    models: tuple[Reader, ...]
    tokenizer: Tokenizer
    decoding: Decoding

    @property
    def cutter(self) -> PassageWindower:
        return PassageWindower(self.tokenizer, min(model.sizes.window for model in self.models))


def save_reader(folder: Path, saved: ReaderFolder, metrics: Mapping[str, Any], card: str) -> None:
    """Write all the files of a reader's folder into an existing folder."""
    save_weights(nn.ModuleList(saved.models), folder / "model.safetensors")
    members = [sizes_to_dict(model.sizes) for model in saved.models]
    write_json(folder / "config.json", {"model": KIND, "members": members})
    save_tokenizer(saved.tokenizer, folder / "tokenizer.json")
    write_json(folder / "decoding.json", saved.decoding.to_json())
    write_json(folder / "metrics.json", metrics)
    (folder / "README.md").write_text(card, encoding="utf-8")


def open_reader(folder: Path, device: torch.device | None = None) -> ReaderFolder:
    """Read a reader's folder; the networks are on the CPU, or on a device, in evaluation mode.

    Raises:
        ModelError: the folder or one of its files is missing, unreadable, or is that of another kind of model.
    """
    if not folder.is_dir():
        raise ModelError(f"{folder}: no such model folder", "train a reader with biorel train-reader")
    config = read_json_object(folder / "config.json")
    members = config.get("members")
    if config.get("model") != KIND or not isinstance(members, list) or not members:
        raise ModelError(f"{folder}: is no reader", "name a folder that biorel train-reader wrote")
    models = tuple(Reader(_sizes(member, folder / "config.json")) for member in members)
    tokenizer = load_tokenizer(folder / "tokenizer.json")
    if any(model.sizes.vocabulary != tokenizer.get_vocab_size() for model in models):
        raise ModelError(f"{folder}: tokenizer.json does not fit config.json", "both must come from one training run")
    load_weights(nn.ModuleList(models), folder / "model.safetensors")
    for model in models:
        model.to(device)
    return ReaderFolder(models, tokenizer, Decoding.from_json(read_json_object(folder / "decoding.json")))


def _sizes(values: Any, path: Path) -> ReaderConfig:
    if not isinstance(values, dict):
        raise ModelError(f"{path}: a member that is no object", "was it written by this version of biorel?")
    sizes = sizes_from_dict(ReaderConfig, values, str(path))
    if sizes.head not in HEADS or sizes.encoder not in ENCODERS:
        raise ModelError(f"{path}: no head {sizes.head!r} over {sizes.encoder!r}")
    return sizes
