"""What run takes."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from biorel.config.base import Config


class Run(Config):
    """Run a whole pipeline; a stage whose inputs and parameters did not change is skipped."""

    example = "biorel run pipelines/sample.toml --data resources/sample --out runs/sample"

    pipeline: Path = Field(description="pipeline TOML", json_schema_extra={"argument": True})
    data: Path | None = Field(None, description="folder that {data} stands for in the pipeline")
    out: Path = Field(description="folder of all stages")
    seed: int | None = Field(None, ge=0, description="seed for every stage that takes one")
    device: str | None = Field(None, description="device for every stage that takes one")
    set: tuple[str, ...] = Field((), description="STAGE.FIELD=VALUE, over the pipeline's own (repeatable)")
    dry_run: bool = Field(False, description="say what would run and why")
