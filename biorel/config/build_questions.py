"""The options of `biorel build-questions`."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, model_validator

from biorel.config.base import FORCE, OUT, Config


class BuildQuestions(Config):
    """Build questions with answer spans: from the pairs of a dataset, or from question sets in the JSON of SQuAD.

    From a dataset one question is made for each entity, relation and direction of a document, by templates; entities
    without that relation give unanswerable ones. Splits follow the documents.
    """

    example = "biorel build-questions --dataset runs/sample-dataset --unanswerable 0.1 --out runs/sample-questions"

    dataset: Path | None = Field(None, description="folder that build-dataset wrote")
    train: tuple[Path, ...] = Field((), description="SQuAD JSON for training, in place of a dataset")
    dev: tuple[Path, ...] = Field((), description="the same for development")
    test: tuple[Path, ...] = Field((), description="the same for the final figure")
    templates: tuple[Path, ...] = Field(
        (), description="TOML files of question templates, which go before the shipped ones (resources/questions)"
    )
    unanswerable: float = Field(
        1.0,
        ge=0,
        le=1,
        description="share of train's unanswerable questions to keep, drawn by a hash of their ids",
    )
    merges: Path | None = Field(None, description="SQuAD JSON: BPE merges in subword-nmt's format")
    tokenizer: Path | None = Field(None, description="a tokenizer.json to use as it is  [default: the dataset's]")
    vocabulary: int = Field(2500, ge=50, description="SQuAD JSON: budget of the learned BPE vocabulary")
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
            raise ValueError("--merges is for SQuAD JSON; a dataset has its tokenizer")
        return self
