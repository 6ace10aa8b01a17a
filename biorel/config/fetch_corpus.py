"""The options of `biorel fetch corpus`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from biorel.config.base import FORCE, OUT, Config
from biorel.config.options import LOCAL_FOLDER


class FetchCorpus(Config):
    """Download a gold corpus from its authors, or verify and unpack a local copy (--from)."""

    example = "biorel fetch corpus cdr --out data/cdr"

    name: Literal["cdr", "chemprot", "drugprot", "biored", "chemdisgene"] = Field(
        description="cdr, chemprot, drugprot, biored or chemdisgene", json_schema_extra={"argument": True}
    )
    source: Path | None = LOCAL_FOLDER
    url: str | None = Field(None, description="address of a mirror that has the files under their original names")
    out: Path = OUT
    force: bool = FORCE
