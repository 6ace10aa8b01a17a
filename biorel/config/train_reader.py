"""The options of `biorel train-reader`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from biorel.config.base import BATCH_TOKENS, DEVICE, FORCE, OUT, THREADS, Config
from biorel.config.options import heads_fault


class TrainReader(Config):
    """Train a reader (DGCNN, or a head of MaP over an encoder) on questions; a killed run goes on when given again."""

    example = "biorel train-reader --questions runs/sample-questions --out runs/sample-reader --epochs 2 --seed 1"

    questions: Path = Field(description="folder that build-questions wrote")
    vectors: Path | None = Field(None, description="pre-trained sub-word vectors, word2vec text, plain or gzip")
    freeze_vectors: bool = Field(False, description="leave the token vectors as they are, as the paper does")
    resplit_dev: int = Field(0, ge=0, description="join train and dev and draw this many dev documents anew by seed")
    folds: int = Field(
        1, ge=1, description="train on the folds of train and dev together, each being dev once; their mean answers"
    )
    seed: int = Field(1, ge=0, description="seed of initial weights, folds, order and dropout")
    device: str = DEVICE
    threads: int = THREADS

    head: Literal["labels", "independent", "vector", "matrix", "matrix-both"] = Field(
        "labels", description="DGCNN's 0/1 labels; or MaP's InD, VCP, MaP_F, MaP_E"
    )
    encoder: str = Field(
        "dgcnn",
        pattern=r"^(dgcnn|bran|hf:.+)$",
        description="gated dilated convolutions; `bran`, its blocks; or hf:FOLDER_OR_NAME, a pre-trained BERT that "
        "reads question and passage together (extra `hf`)",
    )
    encoder_rate: float = Field(5e-5, gt=0, description="hf: peak learning rate of its last block")
    layer_decay: float = Field(0.9, gt=0, le=1, description="hf: share of that rate from block to block downwards")
    width: int = Field(64, ge=4, description="D, the width of a token in context")
    embedding: int = Field(64, ge=2, description="width of a token's vector")
    positions: int = Field(64, ge=2, multiple_of=2, description="width of the sinusoidal positions")
    kernel: int = Field(3, ge=1, description="width of the convolutions")
    dilations: tuple[int, ...] = Field(
        (1, 2, 4, 8, 16, 32, 64, 128, 1), description="of the passage's convolutions, one a layer"
    )
    question_dilations: tuple[int, ...] = Field((1, 2), description="of the question's convolutions")
    blocks: int = Field(2, ge=1, description="blocks of --encoder bran")
    heads: int = Field(4, ge=0, description="attention heads of --encoder bran")
    window: int = Field(
        500,
        ge=8,
        description="tokens read at once, hf: at most 3/4 of its positions; longer texts in overlapping windows",
    )
    sample: int = Field(20, ge=1, description="k, the starts and ends that a step of MaP looks at")
    focus: float = Field(2.0, ge=0, description="gamma of the focal loss of --head labels")
    gate_noise: float = Field(0.1, ge=0, lt=1, description="noise on the gates")
    word_dropout: float = Field(0.1, ge=0, lt=1, description="probability that a token's vector is zero")
    dropout: float = Field(0.1, ge=0, lt=1, description="dropout before each layer")

    epochs: int = Field(4, ge=1, description="passes over the training questions")
    patience: int = Field(0, ge=0, description="stop after this many epochs without a better dev F1; 0: never")
    token_budget: int = Field(4000, ge=1, description="padded tokens of a batch")
    learning_rate: float = Field(1e-3, gt=0, description="peak learning rate")
    warmup: int = Field(100, ge=0, description="steps of linear warm-up")
    final_rate: float = Field(0.05, ge=0, le=1, description="share of the peak that the cosine schedule ends at")
    weight_decay: float = Field(0.0, ge=0, description="decoupled weight decay")
    clip: float = Field(10.0, gt=0, description="gradient norm is clipped to this")
    ema: float = Field(0.998, ge=0, lt=1, description="decay of the running average of the weights")
    eval_tokens: int = BATCH_TOKENS
    out: Path = OUT
    force: bool = FORCE

    @model_validator(mode="after")
    def _check(self) -> TrainReader:
        if self.encoder == "bran" and (fault := heads_fault(self.width, self.heads)):
            raise ValueError(fault)
        if not self.dilations or not self.question_dilations:
            raise ValueError("--dilations and --question-dilations hold one number at least")
        if min(*self.dilations, *self.question_dilations) < 1:
            raise ValueError("--dilations are 1 or more")
        if self.resplit_dev and self.folds > 1:
            raise ValueError("--resplit-dev and --folds exclude each other")
        if self.encoder.startswith("hf:") and self.vectors is not None:
            raise ValueError("--encoder hf:... brings its own weights: leave out --vectors")
        if self.freeze_vectors and self.vectors is None:
            raise ValueError("--freeze-vectors needs --vectors")
        return self
