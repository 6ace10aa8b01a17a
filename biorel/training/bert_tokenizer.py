"""The vocabulary of a pre-trained BERT as a tokenizer of biorel's: without frame, padding or truncation."""

from __future__ import annotations

import json
from dataclasses import dataclass

from tokenizers import Tokenizer

from biorel.errors import ModelError

_HINT = "the folder needs tokenizer.json, or vocab.txt with tokenizer_config.json"


@dataclass(frozen=True)
class BertTokenizer:
    """The tokenizer and the ids of its special tokens; [CLS] and [SEP] are put around a text by the network."""

    tokenizer: Tokenizer
    cls_id: int
    sep_id: int
    unk_id: int


def read_tokenizer(name: str) -> BertTokenizer:
    """The tokenizer of a folder, or of a name of the hub.

    Raises:
        ModelError: there is none, it has no special tokens, or its padding is not the token 0.
    """
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
    return BertTokenizer(tokenizer, *special)
