"""The options of `biorel doctor`."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from biorel.config.base import DEVICE, Config


class Doctor(Config):
    """Check whether biorel can work here: versions, device, disk, shared memory, models and, if asked, the services.

    The exit status is 1 if something that biorel needs does not work.
    """

    example = "biorel doctor --network"

    network: bool = Field(False, description="also ask each service of `biorel fetch` for an answer")
    model: Path | None = Field(None, description="another model folder to open")
    device: str = DEVICE
    out: Path = Field(Path(), description="folder whose disk is checked")
    as_json: bool = Field(False, alias="json", description="print the findings as a JSON list")
