"""Where a vocabulary comes from: the options that every command which makes one shares."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

Units = Literal["bpe", "words"]

TOKENIZER: Units = Field("bpe", description="byte pair encoding, or whole words with the rest as UNK")
MERGES = Field(None, description="BPE merges in subword-nmt's format, instead of learning them")
TOKENIZER_FILE = Field(
    None, description="a tokenizer.json, or a dataset, model or pretrain folder that holds one, to use as it is"
)
VOCABULARY = Field(2500, ge=50, description="budget of the learned BPE vocabulary")
MIN_COUNT = Field(5, ge=1, description="words: the vocabulary is of words seen this often (the paper: 5)")


def tokenizer_fault(tokenizer: str, merges: Path | None, file: Path | None) -> str:
    """What is wrong with the choice, empty where nothing is."""
    if merges and file:
        return "--merges and --tokenizer-file exclude each other"
    if tokenizer == "words" and (merges or file):
        return f"--tokenizer words learns its own vocabulary: leave out {'--merges' if merges else '--tokenizer-file'}"
    return ""
