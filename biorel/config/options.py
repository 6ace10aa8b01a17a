"""Options that several commands share: the sizes of an encoder, the vocabulary, the graph, the services."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

WIDTH = Field(64, ge=4, description="D, the width of a token")
BLOCKS = Field(2, ge=0, description="Transformer blocks")
HEADS = Field(4, ge=0, description="attention heads; 0 leaves attention out ('CNN only')")
KERNELS: tuple[int, ...] = Field((1, 5, 1), description="widths of the convolutions of a block")
EXPANSION = Field(4, ge=1, description="channels inside the convolutions, times D")
POSITIONS = Field(1000, ge=1, description="learned positions; longer texts are read in windows")


def heads_fault(width: int, heads: int) -> str:
    """What is wrong with the two together, empty where nothing is."""
    return f"--width {width} is not a multiple of --heads {heads}" if heads and width % heads else ""


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


VOTE_HELP = "score over documents: smoothed is sum s^2 / (1 + sum s), squares is sum s^2"

URL = Field(None, description="base address of the service  [default: as in resources/services.toml]")

ALLOW_INCOMPLETE = Field(False, description="accept batches that failed; their PMIDs are listed as missing")

LOCAL_FOLDER = Field(
    None, alias="from", description="copy and verify local files of this folder instead of downloading"
)

GRAPH = Field(None, description="folder that build-graph wrote: its triples are written into the text as branches")
