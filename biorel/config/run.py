"""The options of `biorel run`."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, model_validator

from biorel.config.base import Config


class Run(Config):
    """Run a pipeline of commands; stages whose inputs and options have not changed are skipped.

    With --seeds 5, the stages that take a seed and all stages that depend on them run for the seeds 1 to 5, in
    OUT/seed-1 and so on. --folds 10 does the same for the folds of a dataset that draws its own split. A summary of all
    copies follows.
    """

    example = "biorel run pipelines/sample.toml --data resources/sample --out runs/sample --seeds 3"

    pipeline: Path = Field(description="pipeline file in TOML", json_schema_extra={"argument": True})
    data: Path | None = Field(None, description="folder for the placeholder {data} in the pipeline")
    out: Path = Field(description="folder for the outputs of all stages")
    seed: int | None = Field(None, ge=0, description="seed for every stage that takes one")
    seeds: int | None = Field(
        None,
        ge=1,
        description="repeat the pipeline with the seeds 1 to this number; means and deviations go to OUT/seeds.json "
        "and seeds.md",
    )
    folds: int | None = Field(
        None, ge=3, description="cross-validate over this many folds; totals go to OUT/folds.json and folds.md"
    )
    device: str | None = Field(None, description="device for every stage that takes one")
    set: tuple[str, ...] = Field(
        (), description="STAGE.FIELD=VALUE, replaces a field of the pipeline file (repeatable)"
    )
    dry_run: bool = Field(False, description="only show which stages would run, and why")

    @model_validator(mode="after")
    def _check(self) -> Run:
        if self.seeds is not None and self.folds is not None:
            raise ValueError("--seeds and --folds exclude each other")
        if self.seeds is not None and self.seed is not None:
            raise ValueError("--seeds sets the seed of every copy: leave out --seed")
        return self
