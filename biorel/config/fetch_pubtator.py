"""The options of `biorel fetch pubtator`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from biorel.config.base import FORCE, OUT, Config
from biorel.config.options import ALLOW_INCOMPLETE, URL


class FetchPubtator(Config):
    """Download annotated abstracts from PubTator3, or take them from its bulk dump (--dump)."""

    example = "biorel fetch pubtator --pmids pmids.txt --out data/pubtator"

    pmids: tuple[Path, ...] = Field(min_length=1, description="files with one PMID a line")
    format: Literal["biocjson", "pubtator"] = Field("biocjson", description="format to request")
    dump: Path | None = Field(None, description="bioconcepts2pubtator_offsets(.gz); take the documents from this dump")
    url: str | None = URL
    incomplete: bool = ALLOW_INCOMPLETE
    out: Path = OUT
    force: bool = FORCE
