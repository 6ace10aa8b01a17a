"""Reads and writes the model folder of one reader, or of several (folds) whose probabilities are averaged.

model.safetensors  weights of all readers              tokenizer.json
config.json        hyper-parameters of each reader     metrics.json
decoding.json      decoding tuned on dev               README.md
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
from biorel.model.checkpoint import config_from_dict, config_to_dict, load_weights, save_weights
from biorel.qa.decoding import Decoding
from biorel.qa.heads import HEADS
from biorel.qa.passages import PassageWindower
from biorel.qa.reader import ENCODERS, Reader
from biorel.qa.reader_config import ReaderConfig
from biorel.text.tokenizer import load_tokenizer, save_tokenizer

KIND = "reader"


@dataclass(frozen=True)
class ReaderFolder:
    """Readers that share a tokenizer, and the decoding of their answers."""

    readers: tuple[Reader, ...]
    tokenizer: Tokenizer
    decoding: Decoding

    def windower(self) -> PassageWindower:
        """A windower for the smallest window of the readers."""
        return PassageWindower(self.tokenizer, min(reader.config.window for reader in self.readers))


def save_reader(folder: Path, saved: ReaderFolder, metrics: Mapping[str, Any], card: str) -> None:
    """Write all files of a reader's folder into an existing folder."""
    save_weights(nn.ModuleList(saved.readers), folder / "model.safetensors")
    members = [config_to_dict(reader.config) for reader in saved.readers]
    write_json(folder / "config.json", {"model": KIND, "members": members})
    save_tokenizer(saved.tokenizer, folder / "tokenizer.json")
    write_json(folder / "decoding.json", saved.decoding.to_json())
    write_json(folder / "metrics.json", metrics)
    (folder / "README.md").write_text(card, encoding="utf-8")


def open_reader(folder: Path, device: torch.device | None = None) -> ReaderFolder:
    """Read a reader's folder. The readers are on `device`, by default the CPU, and in evaluation mode.

    Raises:
        ModelError: the folder or one of its files is missing, cannot be read, or belongs to another kind of model.
    """
    if not folder.is_dir():
        raise ModelError(f"{folder}: no such model folder", "train a reader with biorel train-reader")
    content = read_json_object(folder / "config.json")
    members = content.get("members")
    if content.get("model") != KIND or not isinstance(members, list) or not members:
        raise ModelError(f"{folder}: not a reader's folder", "give a folder that biorel train-reader wrote")
    readers = tuple(Reader(_read_config(member, folder / "config.json")) for member in members)
    tokenizer = load_tokenizer(folder / "tokenizer.json")
    if any(reader.config.vocabulary != tokenizer.get_vocab_size() for reader in readers):
        raise ModelError(
            f"{folder}: tokenizer.json does not fit config.json", "take both files from the same training run"
        )
    load_weights(nn.ModuleList(readers), folder / "model.safetensors")
    for reader in readers:
        reader.to(device)
    return ReaderFolder(readers, tokenizer, Decoding.from_json(read_json_object(folder / "decoding.json")))


def _read_config(values: Any, path: Path) -> ReaderConfig:
    if not isinstance(values, dict):
        raise ModelError(f"{path}: a member is not a JSON object", "train the reader again with this version of biorel")
    config = config_from_dict(ReaderConfig, values, str(path))
    if config.head not in HEADS or config.encoder not in ENCODERS:
        raise ModelError(f"{path}: unknown head {config.head!r} or encoder {config.encoder!r}")
    return config
