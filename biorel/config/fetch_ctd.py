"""The options of `biorel fetch ctd`."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from biorel.config.base import FORCE, OUT, Config
from biorel.config.options import LOCAL_FOLDER, URL


class FetchCtd(Config):
    """Download CTD's files, or verify and copy them from a local folder (--from)."""

    example = "biorel fetch ctd --from resources/sample/ctd --out data/ctd"

    file: tuple[str, ...] = Field(
        (), description="name of a file, such as CTD_genes_diseases  [default: all files except the inferred ones]"
    )
    source: Path | None = LOCAL_FOLDER
    url: str | None = URL
    out: Path = OUT
    force: bool = FORCE
