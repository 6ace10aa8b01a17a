"""The options of `biorel build-questions`."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, model_validator

from biorel.config.base import FORCE, OUT, Config


class BuildQuestions(Config):
    """Build questions with answer spans from the pairs of a dataset, or import them from SQuAD JSON.

    For a dataset, templates give one question for each entity, relation and direction of a document. Entities without
    the relation give unanswerable questions. Each question is in the split of its document.
    """

    example = "biorel build-questions --dataset runs/sample-dataset --unanswerable 0.1 --out runs/sample-questions"

    dataset: Path | None = Field(None, description="folder written by build-dataset")
    train: tuple[Path, ...] = Field((), description="SQuAD JSON for training, instead of a dataset")
    dev: tuple[Path, ...] = Field((), description="SQuAD JSON for development")
    test: tuple[Path, ...] = Field((), description="SQuAD JSON for testing")
    templates: tuple[Path, ...] = Field(
        (), description="TOML files of question templates; they take precedence over resources/questions"
    )
    unanswerable: float = Field(
        1.0,
        ge=0,
        le=1,
        description="share of the unanswerable training questions to keep, chosen by a hash of their ids",
    )
    merges: Path | None = Field(None, description="SQuAD JSON: file of BPE merges in the format of subword-nmt")
    tokenizer: Path | None = Field(None, description="tokenizer.json to use unchanged  [default: the dataset's]")
    vocabulary: int = Field(2500, ge=50, description="SQuAD JSON: size of the BPE vocabulary to learn")
    out: Path = OUT
    force: bool = FORCE

    @model_validator(mode="after")
    def _check(self) -> BuildQuestions:
        sets = [*self.train, *self.dev, *self.test]
        if bool(sets) == (self.dataset is not None):
            raise ValueError("give either --dataset, or --train/--dev/--test with SQuAD JSON")
        if self.merges and self.tokenizer:
            raise ValueError("--merges and --tokenizer exclude each other")
        if self.merges and self.dataset is not None:
            raise ValueError("--merges works only with SQuAD JSON; a dataset already has its own tokenizer")
        return self
