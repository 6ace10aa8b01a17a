"""A pre-trained encoder on disk, and a relation network that starts from it.

model.safetensors  weights          tokenizer.json          metrics.json, README.md
config.json        sizes            history.parquet
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from biorel.artifacts import read_json_object, write_json
from biorel.errors import ModelError
from biorel.model.bran import Bran
from biorel.model.checkpoint import config_to_dict, read_weights, save_weights
from biorel.model.masked import SHARED, MaskedLanguageModel
from biorel.text.tokenizer import TOKENIZER, load_tokenizer, save_tokenizer

KIND = "masked"
_WEIGHTS, _CONFIG = "model.safetensors", "config.json"
# what both networks must have alike; dropout is each one's own
_ALIKE = ("width", "blocks", "heads", "kernels", "expansion", "positions", "encoder", "unk_id")


def save_pretrained(
    folder: Path, model: MaskedLanguageModel, tokenizer: Tokenizer, metrics: Mapping[str, Any], card: str
) -> None:
    """Write all the files of a pre-trained folder into an existing folder."""
    save_weights(model, folder / _WEIGHTS)
    write_json(folder / _CONFIG, {"model": KIND, "sizes": config_to_dict(model.config)})
    save_tokenizer(tokenizer, folder / TOKENIZER)
    write_json(folder / "metrics.json", metrics)
    (folder / "README.md").write_text(card, encoding="utf-8")


def start_from(model: Bran, folder: Path, tokenizer: Tokenizer) -> int:
    """Copy a pre-trained folder's embedding, positions and blocks into a network; returns how many parameters.

    Args:
        tokenizer: the one that the network's examples were made with.

    Raises:
        ModelError: no pre-trained folder, or one of other sizes or another tokenizer.
    """
    config = read_json_object(folder / _CONFIG)
    sizes = config.get("sizes")
    if config.get("model") != KIND or not isinstance(sizes, dict):
        raise ModelError(f"{folder}: holds no pre-trained encoder", "make one with biorel pretrain --method masked")
    own = config_to_dict(model.config)
    other = [name for name in _ALIKE if sizes.get(name) != own[name]]
    if other:
        raise ModelError(
            f"{folder}: has " + ", ".join(f"{name} {sizes.get(name)} (here {own[name]})" for name in other),
            "train with the sizes that it was pre-trained with",
        )
    if load_tokenizer(folder).to_str() != tokenizer.to_str():
        raise ModelError(
            f"{folder}: was pre-trained with another tokenizer than the dataset's",
            f"build the dataset with --tokenizer-file {folder}",
        )
    weights = {name: value for name, value in read_weights(folder / _WEIGHTS).items() if name.startswith(SHARED)}
    expected = {name: value.shape for name, value in model.state_dict().items() if name.startswith(SHARED)}
    if expected != {name: value.shape for name, value in weights.items()}:
        raise ModelError(f"{folder / _WEIGHTS}: does not fit config.json", "both must come from one pre-training")
    model.load_state_dict(weights, strict=False)
    return sum(value.numel() for value in weights.values())
