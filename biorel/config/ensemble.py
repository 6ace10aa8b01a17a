"""The options of `biorel ensemble`."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, model_validator

from biorel.config.base import FORCE, OUT, Config


class Ensemble(Config):
    """Combine trained models into one model folder, which predicts the mean of their probabilities.

    Members must agree in vocabulary, relations and input features; they may differ in size. The result works wherever a
    model folder does: in evaluate, extract and tag.
    """

    example = "biorel ensemble --model runs/sample/seed-1/model --model runs/sample/seed-2/model --out runs/both"

    model: tuple[Path, ...] = Field(min_length=1, description="model folder of one member")
    out: Path = OUT
    force: bool = FORCE

    @model_validator(mode="after")
    def _check(self) -> Ensemble:
        twice = sorted({str(path) for path in self.model if self.model.count(path) > 1})
        if twice:
            raise ValueError(f"--model {twice[0]} is given twice")
        return self
