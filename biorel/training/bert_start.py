"""A pre-trained BERT as train and train-reader take it: vocabulary, sizes, weights, and how fast each block learns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from biorel.errors import ModelError
from biorel.model.bert import Bert, load_pretrained, read_config, read_width, usable_positions
from biorel.model.bran import BranConfig
from biorel.training.bert_tokenizer import BertTokenizer, read_tokenizer
from biorel.training.optim import layer_share

_PREFIX = "hf:"


@dataclass(frozen=True)
class Pretrained:
    """What is known of a BERT before its weights are read: its configuration, as JSON, and its vocabulary."""

    config: str
    tokens: BertTokenizer

    def sized(self, sizes: BranConfig) -> BranConfig:
        """The sizes of a network that has this BERT for its encoder."""
        width, positions = read_width(self.config), usable_positions(self.config)
        return replace(sizes, **self.shared, width=width, positions=positions)

    @property
    def shared(self) -> dict[str, Any]:
        """The fields that it sets in a `BranConfig` and in a `ReaderConfig`."""
        tokens = self.tokens
        ids = {"cls_id": tokens.cls_id, "sep_id": tokens.sep_id, "unk_id": tokens.unk_id}
        return {"encoder": "bert", "bert": self.config, **ids}


def open_bert(encoder: str) -> Pretrained | None:
    """The BERT that --encoder names; None for an encoder of biorel.

    Raises:
        ModelError: it cannot be found, or is of another model family.
    """
    if not encoder.startswith(_PREFIX):
        return None
    name = encoder.removeprefix(_PREFIX)
    return Pretrained(read_config(name), read_tokenizer(name))


def load_bert(
    bert: Bert | None,
    vocabulary: int,
    *,
    encoder: str,
    encoder_rate: float,
    learning_rate: float,
    layer_decay: float,
) -> Callable[[str], float]:
    """Read the weights of the BERT, if there is one; returns each parameter's share of the learning rate.

    Args:
        encoder: `hf:` and the folder or name of the BERT.
        encoder_rate: peak learning rate of its last block.
        learning_rate: peak learning rate of the other parameters.
        layer_decay: factor of the rate from each block to the one below.

    Raises:
        ModelError: no weights, they do not fit, or there are more tokens in the vocabulary than the BERT has.
    """
    if bert is None:
        return partial(layer_share, layers=0, top=1.0, decay=1.0)
    if vocabulary > bert.model.config.vocab_size:
        raise ModelError(f"{encoder}: more tokens in its tokenizer than in config.json", "are both of one model?")
    load_pretrained(bert, encoder.removeprefix(_PREFIX))
    return partial(layer_share, layers=bert.layers, top=encoder_rate / learning_rate, decay=layer_decay)
