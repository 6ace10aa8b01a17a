"""The options of `biorel ensemble`."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, model_validator

from biorel.config.base import FORCE, OUT, Config


class Ensemble(Config):
    """Join trained models to one model folder, which tells the mean of their probabilities.

    The members share vocabulary, relations and what a document is read as; they may differ in size. The folder stands
    wherever a model folder does: evaluate, extract, tag.
    """

    example = "biorel ensemble --model runs/sample/seed-1/model --model runs/sample/seed-2/model --out runs/both"

    model: tuple[Path, ...] = Field(min_length=1, description="model folder of a member")
    out: Path = OUT
    force: bool = FORCE

    @model_validator(mode="after")
    def _check(self) -> Ensemble:
        twice = sorted({str(path) for path in self.model if self.model.count(path) > 1})
        if twice:
            raise ValueError(f"--model {twice[0]} is given twice")
        return self
