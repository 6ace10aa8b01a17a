"""The options of `biorel train-tagger`."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from biorel.config.base import FORCE, OUT, Config


class TrainTagger(Config):
    """Train a spaCy tagger on documents with gold mentions; the best epoch on dev is kept."""

    example = (
        "biorel train-tagger --train resources/sample/abstracts.pubtator.txt --held-out 8 --epochs 2 "
        "--out runs/sample-tagger"
    )

    train: tuple[Path, ...] = Field(min_length=1, description="documents with gold mentions")
    dev: tuple[Path, ...] = Field((), description="documents used to choose the epoch")
    held_out: int = Field(150, ge=1, description="without --dev: number of --train documents used to choose the epoch")
    width: int = Field(96, ge=8, description="width of the convolutions")
    depth: int = Field(6, ge=1, description="number of convolutional layers")
    window: int = Field(1, ge=1, description="words on each side that a layer sees")
    rows: int = Field(8000, ge=4, description="rows of the largest embedding table")
    hidden: int = Field(64, ge=1, description="hidden width of the transition model")
    known_from: int = Field(
        2, ge=1, description="number of documents in which a word must occur to get its own embedding"
    )
    dropout: float = Field(0.2, ge=0, lt=1, description="dropout probability")
    epochs: int = Field(10, ge=1, description="passes over the training documents")
    batch: int = Field(4, ge=1, description="documents of a training step")
    learning_rate: float = Field(1e-3, gt=0, description="peak learning rate")
    warmup: int = Field(100, ge=0, description="steps of linear warm-up")
    final_rate: float = Field(
        0.1, ge=0, le=1, description="learning rate at the end of the cosine schedule, as a share of the peak"
    )
    seed: int = Field(1, ge=0, description="seed for weights, order and --held-out")
    out: Path = OUT
    force: bool = FORCE
