"""The options of `biorel train-reader`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from biorel.config.base import BATCH_TOKENS, DEVICE, FORCE, OUT, THREADS, Config
from biorel.config.options import heads_fault


class TrainReader(Config):
    """Train a reader on questions: DGCNN, or a head of MaP over an encoder.

    Repeat the command to resume a run that was stopped; it continues from its last checkpoint.
    """

    example = "biorel train-reader --questions runs/sample-questions --out runs/sample-reader --epochs 2 --seed 1"

    questions: Path = Field(description="folder written by build-questions")
    vectors: Path | None = Field(None, description="pre-trained token vectors in word2vec text format, plain or gzip")
    freeze_vectors: bool = Field(False, description="do not train the token vectors (the paper)")
    resplit_dev: int = Field(0, ge=0, description="draw this many dev documents by seed from train and dev together")
    folds: int = Field(
        1, ge=1, description="train one reader for each fold of train and dev together; their mean scores the answers"
    )
    seed: int = Field(1, ge=0, description="seed for initial weights, folds, order and dropout")
    device: str = DEVICE
    threads: int = THREADS

    head: Literal["labels", "independent", "vector", "matrix", "matrix-both"] = Field(
        "labels", description="labels: DGCNN; independent, vector, matrix, matrix-both: MaP's InD, VCP, MaP_F, MaP_E"
    )
    encoder: str = Field(
        "dgcnn",
        pattern=r"^(dgcnn|bran|hf:.+)$",
        description="dgcnn: gated dilated convolutions; bran: BRAN's blocks; hf:FOLDER_OR_NAME: a pre-trained BERT "
        "that encodes question and passage together (extra `hf`)",
    )
    encoder_rate: float = Field(5e-5, gt=0, description="hf: peak learning rate of the last block")
    layer_decay: float = Field(
        0.9, gt=0, le=1, description="hf: factor of the learning rate from each block to the one below"
    )
    width: int = Field(64, ge=4, description="width of a token vector in context (D)")
    embedding: int = Field(64, ge=2, description="width of a token embedding")
    positions: int = Field(64, ge=2, multiple_of=2, description="width of the sinusoidal positions")
    kernel: int = Field(3, ge=1, description="width of the convolutions")
    dilations: tuple[int, ...] = Field(
        (1, 2, 4, 8, 16, 32, 64, 128, 1), description="dilations of the passage's convolutions, one for each layer"
    )
    question_dilations: tuple[int, ...] = Field((1, 2), description="dilations of the question's convolutions")
    blocks: int = Field(2, ge=1, description="bran: number of blocks")
    heads: int = Field(4, ge=0, description="bran: attention heads")
    window: int = Field(
        500,
        ge=8,
        description="tokens of a window (hf: at most 3/4 of its positions); longer texts are read in overlapping "
        "windows",
    )
    sample: int = Field(20, ge=1, description="k, the number of starts and ends that a training step of MaP samples")
    focus: float = Field(2.0, ge=0, description="gamma of the focal loss of --head labels")
    gate_noise: float = Field(0.1, ge=0, lt=1, description="noise on the gates")
    word_dropout: float = Field(0.1, ge=0, lt=1, description="probability of zeroing a token's embedding")
    dropout: float = Field(0.1, ge=0, lt=1, description="dropout before each layer")

    epochs: int = Field(4, ge=1, description="passes over the training questions")
    patience: int = Field(0, ge=0, description="stop after this many epochs without a better dev F1; 0 means never")
    token_budget: int = Field(4000, ge=1, description="padded tokens of a batch")
    learning_rate: float = Field(1e-3, gt=0, description="peak learning rate")
    warmup: int = Field(100, ge=0, description="steps of linear warm-up")
    final_rate: float = Field(
        0.05, ge=0, le=1, description="learning rate at the end of the cosine schedule, as a share of the peak"
    )
    weight_decay: float = Field(0.0, ge=0, description="decoupled weight decay")
    clip: float = Field(10.0, gt=0, description="largest gradient norm")
    ema: float = Field(0.998, ge=0, lt=1, description="decay of the running average of the weights")
    eval_tokens: int = BATCH_TOKENS
    out: Path = OUT
    force: bool = FORCE

    @model_validator(mode="after")
    def _check(self) -> TrainReader:
        if self.encoder == "bran" and (fault := heads_fault(self.width, self.heads)):
            raise ValueError(fault)
        if not self.dilations or not self.question_dilations:
            raise ValueError("--dilations and --question-dilations need at least one number")
        if min(*self.dilations, *self.question_dilations) < 1:
            raise ValueError("--dilations are 1 or more")
        if self.resplit_dev and self.folds > 1:
            raise ValueError("--resplit-dev and --folds exclude each other")
        if self.encoder.startswith("hf:") and self.vectors is not None:
            raise ValueError("--encoder hf:... brings its own weights: leave out --vectors")
        if self.freeze_vectors and self.vectors is None:
            raise ValueError("--freeze-vectors needs --vectors")
        return self
