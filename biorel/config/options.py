"""Options that several commands share: encoder sizes, vocabulary, knowledge graph, services."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from biorel.formats.writers import FORMATS

WIDTH = Field(64, ge=4, description="width of a token vector (D)")
BLOCKS = Field(2, ge=0, description="number of Transformer blocks")
HEADS = Field(4, ge=0, description="attention heads; 0 leaves attention out (the paper's 'CNN only')")
KERNELS: tuple[int, ...] = Field((1, 5, 1), description="widths of the convolutions of a block")
EXPANSION = Field(4, ge=1, description="channels inside the convolutions, as a multiple of the width")
POSITIONS = Field(1000, ge=1, description="number of learned positions; longer texts are read in windows")


def heads_fault(width: int, heads: int) -> str:
    """Why the width does not fit the number of attention heads; empty if it does."""
    return f"--width {width} is not a multiple of --heads {heads}" if heads and width % heads else ""


TokenizerKind = Literal["bpe", "words"]

TOKENIZER: TokenizerKind = Field(
    "bpe", description="byte pair encoding (bpe), or whole words with all rare words as UNK (words)"
)
MERGES = Field(None, description="file of BPE merges in the format of subword-nmt, instead of learning them")
TOKENIZER_FILE = Field(
    None, description="tokenizer.json, or a dataset, model or pretrain folder that contains one, to use unchanged"
)
VOCABULARY = Field(2500, ge=50, description="size of the BPE vocabulary to learn")
MIN_COUNT = Field(5, ge=1, description="words: how often a word must occur to enter the vocabulary (the paper: 5)")


def tokenizer_fault(tokenizer: str, merges: Path | None, file: Path | None) -> str:
    """Why these tokenizer options contradict each other; empty if they do not."""
    if merges and file:
        return "--merges and --tokenizer-file exclude each other"
    if tokenizer == "words" and (merges or file):
        return f"--tokenizer words learns its own vocabulary: leave out {'--merges' if merges else '--tokenizer-file'}"
    return ""


VOTE_HELP = "how scores s of several documents combine: smoothed is sum s^2 / (1 + sum s), squares is sum s^2"

URL = Field(None, description="base address of the service  [default: from resources/services.toml]")

ALLOW_INCOMPLETE = Field(False, description="accept failed batches; their PMIDs are listed as missing")

LOCAL_FOLDER = Field(
    None, alias="from", description="copy and verify the files of this folder instead of downloading them"
)

GRAPH = Field(
    None, description="folder written by build-graph; its knowledge goes into the texts and the pair features"
)


def output_format(*other: str) -> Any:
    """The option `--format`: `auto`, the output formats of relations, and the `other` formats of the command."""
    return Field(
        "auto",
        description="output format; auto takes it from the file name",
        json_schema_extra={"choices": ["auto", *other, *FORMATS]},
    )
