"""The options of `biorel aggregate`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from biorel.config.base import FORCE, Config
from biorel.config.options import VOTE_HELP


class Aggregate(Config):
    """Turn extracted relations into the triples of a corpus: score, number of documents, best evidence.

    A relation counts once in a document, with its best score, however often it stands in the files.
    """

    example = "biorel aggregate relations.jsonl --documents resources/sample/abstracts.jsonl --out triples.tsv"

    relations: tuple[Path, ...] = Field(
        min_length=1,
        description="relations in JSONL or Parquet, as extract writes them",
        json_schema_extra={"argument": True},
    )
    documents: tuple[Path, ...] = Field(
        (), description="the documents that were read: the sentences of the evidence are told as text"
    )
    vote: Literal["smoothed", "squares", "sum", "max"] = Field("smoothed", description=VOTE_HELP)
    min_score: float = Field(0.0, ge=0, le=1, description="leave out relations of a document below this score")
    min_support: int = Field(1, ge=1, description="leave out triples of fewer documents")
    format: Literal["auto", "parquet", "tsv"] = Field(
        "auto", description="format of the output; auto tells it by the suffix"
    )
    out: Path = Field(description="file to write; it appears whole or not at all")
    force: bool = FORCE
