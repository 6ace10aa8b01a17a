"""Open a pre-trained BERT, load its weights into a network, and set the learning rate of each of its blocks."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tokenizers import Tokenizer

from biorel.errors import ModelError
from biorel.model.bert import Bert, load_pretrained, read_config, read_width, usable_positions
from biorel.training.optim import layer_share

_PREFIX = "hf:"
_HINT = "the folder needs tokenizer.json, or vocab.txt with tokenizer_config.json"


@dataclass(frozen=True)
class PretrainedBert:
    """A BERT before its weights are read.

    Attributes:
        config: its configuration, as JSON.
        tokenizer: its tokenizer, without special tokens, padding or truncation; the network adds [CLS] and [SEP].
        cls_id, sep_id, unk_id: token ids of [CLS], [SEP] and [UNK].
    """

    config: str
    tokenizer: Tokenizer
    cls_id: int
    sep_id: int
    unk_id: int

    @property
    def width(self) -> int:
        """D."""
        return read_width(self.config)

    @property
    def positions(self) -> int:
        """The largest number of tokens of a text that the BERT reads at once."""
        return usable_positions(self.config)


def open_bert(encoder: str) -> PretrainedBert | None:
    """The BERT that --encoder names; None for an encoder of biorel.

    Args:
        encoder: `hf:` and a folder or a name on the Hugging Face hub, or the name of an encoder.

    Raises:
        ModelError: the BERT cannot be found, is of another model family, or its tokenizer is unusable.
    """
    return read_bert(encoder.removeprefix(_PREFIX)) if encoder.startswith(_PREFIX) else None


def read_bert(name: str) -> PretrainedBert:
    """The BERT in a folder, or under a name on the hub.

    Raises:
        ModelError: the BERT cannot be found or is of another model family; or its tokenizer lacks a special token or
            has a padding token other than 0.
    """
    config = read_config(name)
    try:
        from transformers import AutoTokenizer

        loaded = AutoTokenizer.from_pretrained(name)
        values = json.loads(loaded.backend_tokenizer.to_str())
    except ImportError as error:
        raise ModelError("the library transformers is not installed", "pip install 'biorel[hf]'") from error
    except (OSError, ValueError, AttributeError) as error:
        raise ModelError(f"hf:{name}: its tokenizer cannot be read ({str(error).splitlines()[0]})", _HINT) from error
    tokenizer = Tokenizer.from_str(json.dumps(values | {"post_processor": None, "truncation": None, "padding": None}))
    special = [loaded.cls_token_id, loaded.sep_token_id, loaded.unk_token_id]
    if any(id_ is None for id_ in special) or loaded.pad_token_id != 0:
        raise ModelError(f"hf:{name}: [CLS], [SEP] or [UNK] is missing, or [PAD] is not the token 0", _HINT)
    return PretrainedBert(config, tokenizer, *special)


def load_bert(
    bert: Bert | None,
    vocabulary: int,
    *,
    encoder: str,
    encoder_rate: float,
    learning_rate: float,
    layer_decay: float,
) -> Callable[[str], float]:
    """Read the weights of the BERT, if there is one; returns each parameter's share of the learning rate, by its name.

    Args:
        vocabulary: number of tokens of the tokenizer.
        encoder: `hf:` and the folder or name of the BERT.
        encoder_rate: peak learning rate of its last block.
        learning_rate: peak learning rate of the other parameters.
        layer_decay: factor of the rate from each block to the one below.

    Raises:
        ModelError: there are no weights, they do not match, or the tokenizer has more tokens than the BERT.
    """
    if bert is None:
        return partial(layer_share, layers=0, top=1.0, decay=1.0)
    if vocabulary > bert.model.config.vocab_size:
        raise ModelError(
            f"{encoder}: the tokenizer has more tokens than config.json allows", "take both files from the same model"
        )
    load_pretrained(bert, encoder.removeprefix(_PREFIX))
    return partial(layer_share, layers=bert.layers, top=encoder_rate / learning_rate, decay=layer_decay)
