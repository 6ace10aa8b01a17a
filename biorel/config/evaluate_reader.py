"""The options of `biorel evaluate-reader`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from biorel.config.base import BATCH_TOKENS, DEVICE, FORCE, OUT, THREADS, Config


class EvaluateReader(Config):
    """Score a reader on one split of questions: exact match, F1, unanswerable questions and entities."""

    example = "biorel evaluate-reader --model runs/sample-reader --questions runs/sample-questions --out runs/ask-eval"

    model: Path = Field(description="folder of a reader")
    questions: Path = Field(description="folder written by build-questions")
    split: Literal["train", "dev", "test"] = Field("test", description="split to score")
    known: Path | None = Field(
        None,
        description="file of known pairs (head id, tab, tail id, and optionally a tab and PubMed ids joined by |); "
        "adds the rank at which a vote over all documents finds a known tail",
    )
    exclude_pmids: tuple[Path, ...] = Field(
        (), description="files of article ids, one a line; pairs known only from these articles do not count"
    )
    exclude_splits: tuple[Literal["train", "dev", "test"], ...] = Field(
        (), description="splits of --questions; pairs known only from their documents do not count"
    )
    device: str = DEVICE
    threads: int = THREADS
    batch_tokens: int = BATCH_TOKENS
    out: Path = OUT
    force: bool = FORCE

    @model_validator(mode="after")
    def _check(self) -> EvaluateReader:
        if self.known is None and (self.exclude_pmids or self.exclude_splits):
            raise ValueError("--exclude-pmids and --exclude-splits go with --known")
        return self
