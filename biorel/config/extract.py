"""The options of `biorel extract`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from biorel.config.base import BATCH_TOKENS, DEVICE, FORCE, THREADS, Config
from biorel.config.options import GRAPH


class Extract(Config):
    """Extract relations from abstracts: JSONL, PubTator or BioC in, a relations table out.

    Entities that a record brings are taken as they are; a record without any is tagged and linked first.
    """

    example = "biorel extract resources/sample/abstracts.jsonl --out relations.jsonl"

    input: Path = Field(
        description="documents: .jsonl, PubTator text, BioC .xml or .json", json_schema_extra={"argument": True}
    )
    model: Path | None = Field(None, description="model folder  [default: the shipped CDR model]")
    out: Path | None = Field(None, description="file to write  [default: NAME.relations.jsonl in the current folder]")
    format: Literal["auto", "jsonl", "parquet", "tsv", "pubtator", "bioc"] = Field(
        "auto", description="format of the output; auto tells it by the suffix"
    )
    status: Path | None = Field(None, description="one row per input document  [default: OUT.status.jsonl]")
    tagger: Literal["spacy", "bran", "dictionary", "none"] = Field(
        "spacy", description="what finds the entities of a record that brings none"
    )
    tagger_model: str | None = Field(
        None, description="spaCy or scispaCy model by name or folder  [default: the shipped tagger]"
    )
    linker: Path | None = Field(None, description="folder that build-linker wrote  [default: the shipped linker]")
    n_process: int = Field(1, ge=1, description="processes that tag")
    graph: Path | None = GRAPH
    min_score: float | None = Field(
        None, ge=0, le=1, description="keep relations from this score, not the model's thresholds"
    )
    all_scores: bool = Field(False, description="write every candidate pair and relation with its score")
    max_evidence: int = Field(5, ge=1, description="mention pairs told per relation, by weight")
    batch_tokens: int = BATCH_TOKENS
    device: str = DEVICE
    threads: int = THREADS
    force: bool = FORCE
    skip_bad: bool = Field(
        False, description="exit 0 although some records are bad; they are in the status file either way"
    )
