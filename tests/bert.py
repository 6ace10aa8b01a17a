"""A BERT small enough for tests, as a folder, with random weights from a seed."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from tests.command_runs import sample_documents

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
POSITIONS = 66


def tiny_bert(folder: Path, *, layers: int = 2) -> Path:
    """Write config.json, model.safetensors and tokenizer.json of a BERT that reads up to 64 tokens."""
    transformers = pytest.importorskip("transformers")
    text = "".join(sample_documents()[:16]).lower()
    characters = sorted({character for character in text if not character.isspace()})
    words = sorted({word for word in text.split() if word.isalpha()})[:400]
    vocabulary = [*SPECIAL, *characters, *(f"##{character}" for character in characters)]
    vocabulary += [word for word in words if word not in vocabulary]
    tokenizer = Tokenizer(
        models.WordPiece({word: number for number, word in enumerate(vocabulary)}, unk_token=SPECIAL[1])
    )
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        **dict(zip(("pad_token", "unk_token", "cls_token", "sep_token"), SPECIAL, strict=False)),
    )
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=24,
        max_position_embeddings=POSITIONS,
    )
    transformers.BertModel(config).save_pretrained(folder)
    return folder
