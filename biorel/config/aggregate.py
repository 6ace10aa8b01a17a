"""The options of `biorel aggregate`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from biorel.config.base import FORCE, Config
from biorel.config.options import VOTE_HELP


class Aggregate(Config):
    """Combine extracted relations into triples with a score, their number of documents and the best evidence.

    A relation counts once for each document, with its highest score.
    """

    example = "biorel aggregate relations.jsonl --documents resources/sample/abstracts.jsonl --out triples.tsv"

    relations: tuple[Path, ...] = Field(
        min_length=1,
        description="relations in JSONL or Parquet, as written by extract",
        json_schema_extra={"argument": True},
    )
    documents: tuple[Path, ...] = Field((), description="the source documents, to add the evidence sentences as text")
    vote: Literal["smoothed", "squares", "sum", "max"] = Field("smoothed", description=VOTE_HELP)
    min_score: float = Field(0.0, ge=0, le=1, description="leave out relations that score lower in their document")
    min_support: int = Field(1, ge=1, description="leave out triples found in fewer documents")
    format: Literal["auto", "parquet", "tsv"] = Field(
        "auto", description="output format; auto takes it from the file name"
    )
    out: Path = Field(description="file to write; it appears only when it is complete")
    force: bool = FORCE
