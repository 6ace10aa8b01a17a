"""The options of `biorel evaluate-reader`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from biorel.config.base import BATCH_TOKENS, DEVICE, FORCE, OUT, THREADS, Config


class EvaluateReader(Config):
    """Score a reader on one split of questions: exact match, F1, no answer, and the entities that it tells."""

    example = "biorel evaluate-reader --model runs/sample-reader --questions runs/sample-questions --out runs/ask-eval"

    model: Path = Field(description="reader's folder")
    questions: Path = Field(description="folder that build-questions wrote")
    split: Literal["train", "dev", "test"] = Field("test", description="the split to score")
    known: Path | None = Field(
        None,
        description="rows of head id, tab, tail id, and perhaps a tab and PubMed ids joined with |: tell at which rank "
        "the vote over abstracts has a known tail",
    )
    exclude_pmids: tuple[Path, ...] = Field(
        (), description="ids of articles, one a line: a known pair that only these say does not count"
    )
    exclude_splits: tuple[Literal["train", "dev", "test"], ...] = Field(
        (), description="the same for the documents of these splits of --questions, such as those trained on"
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
