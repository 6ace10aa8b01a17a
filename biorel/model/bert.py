"""A pre-trained BERT as the encoder, in place of BRAN's embedding and blocks; with branches, K-BERT's mask-transformer.

The library `transformers` (extra `hf`) builds the BERT from its configuration as JSON text, so that a model folder of
biorel needs no other file. Weights are read from safetensors only.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from biorel.errors import ModelError
from biorel.model.branches import Branches, layout

FAMILY = "bert"
_SPECIAL_TOKENS = 2  # [CLS] and [SEP]
_HINT = "name a folder with config.json, model.safetensors and tokenizer.json, such as a saved BERT"


class Bert(nn.Module):
    """Reads [CLS], the text, [SEP], then the branches, and returns the tokens of the text.

    Every token is in segment A. Branch tokens beyond the last learned position use the last one. A text must fit the
    learned positions; the caller cuts longer ones into windows.
    """

    def __init__(
        self,
        *,
        config: str,
        cls_id: int,
        sep_id: int,
        unk_id: int,
        word_dropout: float,
        checkpointing: bool,
        mixed_precision: bool,
    ) -> None:
        """Build the network with random weights.

        Args:
            config: the configuration that `transformers` writes, as JSON.
            cls_id, sep_id, unk_id: token ids of [CLS], [SEP] and [UNK].
            word_dropout: probability that a token becomes [UNK] in training.
            checkpointing: recompute activations in the backward pass, to save memory.
            mixed_precision: use bfloat16 on a GPU.

        Raises:
            ModelError: the configuration is not that of a BERT, or `transformers` is not installed.
        """
        super().__init__()
        self.model = _network(config)
        self.cls_id, self.sep_id, self.unk_id = cls_id, sep_id, unk_id
        self.word_dropout = word_dropout
        self.mixed_precision = mixed_precision
        if checkpointing:
            self.model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})

    @property
    def layers(self) -> int:
        """Number of blocks."""
        return int(self.model.config.num_hidden_layers)

    def forward(
        self,
        token_ids: Tensor,
        mask: Tensor,
        branches: Branches | None = None,
        *,
        soft: bool = True,
        restricted: bool = True,
    ) -> Tensor:
        """[B, T] token ids and mask -> [B, T, D]; `soft` and `restricted` are those of `branches.layout`."""
        length = token_ids.shape[1]
        if self.training and self.word_dropout > 0:
            dropped = torch.rand(token_ids.shape, device=token_ids.device) < self.word_dropout
            token_ids = token_ids.masked_fill(dropped, self.unk_id)
        ids, real = self._with_special_tokens(token_ids, mask)
        positions: Tensor | None = None
        visible = real[:, None, None, :]
        if branches is not None:
            shifted = Branches(branches.token_ids, branches.mask, F.pad(branches.anchors, (1, 1)))
            with_branches = layout(real, shifted, soft=soft, restricted=restricted)
            visible = with_branches.visible[:, None]
            positions = with_branches.positions.clamp(max=self.model.config.max_position_embeddings - 1)
            ids = with_branches.tokens(ids, shifted)
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=self.mixed_precision and ids.is_cuda):
            hidden: Tensor = self.model(
                input_ids=ids,
                attention_mask=visible.expand(-1, 1, ids.shape[1], -1),
                token_type_ids=torch.zeros_like(ids),
                position_ids=positions,
            ).last_hidden_state
        return hidden[:, 1 : length + 1].float()

    def _with_special_tokens(self, token_ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """[B, T] -> [B, T + 2], with [CLS] before the text and [SEP] after its last real token."""
        ids, real = F.pad(token_ids, (1, 1)), F.pad(mask, (1, 1))
        ends = mask.sum(1, keepdim=True) + 1
        ids[:, 0] = self.cls_id
        real[:, 0] = True
        return ids.scatter(1, ends, self.sep_id), real.scatter(1, ends, True)


def usable_positions(config: str) -> int:
    """The most tokens of a text that a BERT of this configuration reads at once, without [CLS] and [SEP].

    Raises:
        ModelError: the configuration does not belong to a BERT.
    """
    return int(_config(config).max_position_embeddings) - _SPECIAL_TOKENS


def read_width(config: str) -> int:
    """D of a BERT of this configuration.

    Raises:
        ModelError: the configuration does not belong to a BERT.
    """
    return int(_config(config).hidden_size)


def read_config(name: str) -> str:
    """The configuration in a folder, or under a name on the Hugging Face hub, as JSON.

    Raises:
        ModelError: there is no configuration, or it does not belong to a BERT.
    """
    if not Path(name).is_dir():
        try:
            return json.dumps(_library().BertConfig.from_pretrained(name).to_dict())
        except (OSError, ValueError) as error:
            raise ModelError(f"hf:{name}: no such folder, and no such model can be reached", _HINT) from error
    path = Path(name) / "config.json"
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror or error}", _HINT) from error
    except UnicodeDecodeError as error:
        raise ModelError(f"{path} is not a JSON object ({error})", _HINT) from error
    _config(text, str(path))
    return text


def load_pretrained(bert: Bert, name: str) -> None:
    """Read the weights in a folder, or under a name on the hub, into a network of the same configuration.

    Raises:
        ModelError: there are no safetensors weights, or some parameters of the network are missing in them.
    """
    folder = Path(name)
    if folder.is_dir() and not any(folder.glob("*.safetensors")):
        pickled = any(folder.glob("*.bin"))
        raise ModelError(
            f"{folder}: no weights (model.safetensors is missing)",
            "biorel does not read pickled weights (.bin): save the model as safetensors" if pickled else _HINT,
        )
    try:
        loaded, report = _library().BertModel.from_pretrained(
            name,
            add_pooling_layer=False,
            use_safetensors=True,
            local_files_only=folder.is_dir(),
            output_loading_info=True,
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelError(f"hf:{name}: its weights cannot be read ({_short(error)})", _HINT) from error
    if missing := sorted(report["missing_keys"]):
        raise ModelError(f"hf:{name}: the weights lack {missing[0]} and {len(missing) - 1} others", _HINT)
    bert.model.load_state_dict(loaded.state_dict())


def _network(config: str) -> Any:
    read = _config(config)
    try:
        return _library().BertModel(read, add_pooling_layer=False)
    except Exception as error:  # the kind of exception depends on the version of the library
        raise ModelError(f"no BERT can be built from this configuration: {_short(error)}", _HINT) from error


def _config(text: str, place: str = "the configuration of the BERT") -> Any:
    try:
        values = json.loads(text)
        family = values.get("model_type")
    except (ValueError, AttributeError, RecursionError) as error:
        raise ModelError(f"{place} is not a JSON object ({error})", _HINT) from error
    if family != FAMILY:
        raise ModelError(f"{place} belongs to an encoder of the family {family}", f"biorel reads the family {FAMILY}")
    kind = _library().BertConfig
    try:
        config = kind(**values)
    except Exception as error:  # as in _network
        raise ModelError(f"{place} does not belong to a BERT: {_short(error)}", _HINT) from error
    config._attn_implementation = "sdpa"
    config.attention_probs_dropout_prob = (
        0.0  # dropout here rules out the fused kernel, and takes 1.5 times as long on a CPU
    )
    config.use_cache = False
    return config


def _short(error: Exception) -> str:
    """The beginning of a library's exception message, which may run to pages."""
    return " ".join(str(error).split())[:160] or type(error).__name__


def _library() -> Any:
    try:
        import transformers
    except ImportError as error:
        raise ModelError(
            "the library transformers is not installed",
            "pip install 'biorel[hf]', which --encoder hf:... and models trained with it need",
        ) from error
    logging: Any = transformers.logging
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    return transformers
