"""The options of `biorel pretrain`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from biorel.config.base import BATCH_TOKENS, DEVICE, FORCE, OUT, Config
from biorel.config.options import (
    BLOCKS,
    EXPANSION,
    HEADS,
    KERNELS,
    MERGES,
    MIN_COUNT,
    POSITIONS,
    TOKENIZER,
    TOKENIZER_FILE,
    VOCABULARY,
    WIDTH,
    TokenizerKind,
    heads_fault,
    tokenizer_fault,
)


class Pretrain(Config):
    """Pre-train an encoder or token vectors on abstracts without labels.

    masked: pre-trains the encoder by predicting hidden tokens, for train --pretrained. Repeat the command to resume a
    run that was stopped. skipgram: learns token vectors with gensim (extra `pretrain`), for train --vectors. Build the
    dataset with --tokenizer-file FOLDER, so that both have the same vocabulary.
    """

    example = (
        "biorel pretrain --documents resources/sample/abstracts.jsonl --epochs 2 --held-out 0.1 "
        "--out runs/sample-pretrained"
    )

    documents: tuple[Path, ...] = Field(
        min_length=1, description="abstracts: JSONL, PubTator, BioC, PubMed XML or Parquet"
    )
    exclude_pmids: tuple[Path, ...] = Field((), description="files of document ids, one a line, to leave out")
    method: Literal["masked", "skipgram"] = Field(
        "masked", description="masked: pre-train the encoder; skipgram: learn token vectors"
    )
    tokenizer: TokenizerKind = TOKENIZER
    tokenizer_file: Path | None = TOKENIZER_FILE
    merges: Path | None = MERGES
    vocabulary: int = VOCABULARY
    min_count: int = MIN_COUNT
    seed: int = Field(1, ge=0, description="seed for initial weights, order, hidden tokens and dropout")
    device: str = DEVICE
    threads: int = Field(
        0,
        ge=0,
        description="number of CPU threads; 0 lets PyTorch choose, and means 1 for skipgram, whose result varies "
        "with more",
    )
    width: int = WIDTH
    epochs: int = Field(10, ge=1, description="passes over the documents")

    window: int = Field(10, ge=1, description="skipgram: context tokens on each side")
    negatives: int = Field(20, ge=1, description="skipgram: negative samples for each token")

    blocks: int = BLOCKS
    heads: int = HEADS
    kernels: tuple[int, ...] = KERNELS
    expansion: int = EXPANSION
    positions: int = POSITIONS
    vectors: Path | None = Field(None, description="masked: token vectors to start from, such as those of skipgram")
    input_dropout: float = Field(0.1, ge=0, lt=1, description="masked: dropout on the token embeddings")
    inner_dropout: float = Field(0.1, ge=0, lt=1, description="masked: dropout inside the blocks")
    mask_share: float = Field(0.15, gt=0, lt=1, description="masked: share of the tokens to predict")
    held_out: float = Field(0.02, gt=0, lt=1, description="masked: share of the documents used to choose the epoch")
    token_budget: int = Field(3200, ge=1, description="masked: padded tokens of a batch")
    learning_rate: float = Field(1e-3, gt=0, description="masked: peak learning rate")
    warmup: int = Field(100, ge=0, description="masked: steps of linear warm-up")
    final_rate: float = Field(
        0.05,
        ge=0,
        le=1,
        description="masked: learning rate at the end of the cosine schedule, as a share of the peak; 1 keeps it "
        "constant",
    )
    beta1: float = Field(0.9, ge=0, lt=1, description="masked: decay of Adam's first moment")
    beta2: float = Field(0.999, ge=0, lt=1, description="masked: decay of Adam's second moment")
    epsilon: float = Field(1e-8, gt=0, description="masked: Adam's epsilon")
    weight_decay: float = Field(0.0, ge=0, description="masked: decoupled weight decay")
    clip: float = Field(10.0, gt=0, description="masked: largest gradient norm")
    ema: float = Field(0.998, ge=0, lt=1, description="masked: decay of the running average of the weights")
    eval_tokens: int = BATCH_TOKENS
    out: Path = OUT
    force: bool = FORCE

    @model_validator(mode="after")
    def _check(self) -> Pretrain:
        faults = (
            tokenizer_fault(self.tokenizer, self.merges, self.tokenizer_file),
            heads_fault(self.width, self.heads),
            "--vectors are for --method masked to start from" if self.vectors and self.method == "skipgram" else "",
        )
        if any(faults):
            raise ValueError("; ".join(filter(None, faults)))
        return self
