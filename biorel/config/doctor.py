"""The options of `biorel doctor`."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from biorel.config.base import DEVICE, Config


class Doctor(Config):
    """Tell whether biorel can work here: versions, device, disk, shared memory, models, the services where asked.

    The exit code is 1 where something that is needed fails.
    """

    example = "biorel doctor --network"

    network: bool = Field(False, description="ask each service of fetch for an answer, too")
    model: Path | None = Field(None, description="model folder of your own to open beside the shipped ones")
    device: str = DEVICE
    out: Path = Field(Path(), description="folder to write to: its disk is looked at")
    as_json: bool = Field(False, alias="json", description="tell the findings as a JSON list")
