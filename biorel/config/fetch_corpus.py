"""The options of `biorel fetch corpus`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from biorel.config.base import FORCE, OUT, Config
from biorel.config.options import LOCAL_FOLDER


class FetchCorpus(Config):
    """Fetch a gold corpus from where its authors publish it, or verify and unpack a local copy (--from)."""

    example = "biorel fetch corpus cdr --out data/cdr"

    name: Literal["cdr", "chemprot", "drugprot", "biored", "chemdisgene"] = Field(
        description="cdr, chemprot, drugprot, biored or chemdisgene", json_schema_extra={"argument": True}
    )
    source: Path | None = LOCAL_FOLDER
    url: str | None = Field(None, description="a mirror that holds the files by their names")
    out: Path = OUT
    force: bool = FORCE
