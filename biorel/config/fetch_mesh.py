"""The options of `biorel fetch mesh`."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from biorel.config.base import FORCE, OUT, Config
from biorel.config.options import LOCAL_FOLDER, URL


class FetchMesh(Config):
    """Download MeSH's descriptors, supplementary concepts and tree, or verify and copy local files (--from)."""

    example = "biorel fetch mesh --from resources/sample/mesh.tsv --out data/mesh"

    year: int | None = Field(None, ge=2000, le=2100, description="year of the MeSH edition  [default: this year]")
    source: Path | None = LOCAL_FOLDER
    url: str | None = URL
    out: Path = OUT
    force: bool = FORCE
