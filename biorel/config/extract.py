"""The options of `biorel extract`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from biorel.config.base import BATCH_TOKENS, DEVICE, FORCE, THREADS, Config
from biorel.config.options import GRAPH, output_format


class Extract(Config):
    """Extract relations from abstracts in JSONL, PubTator or BioC.

    Entities that come with a record are used. A record without entities is tagged and linked first.
    """

    example = "biorel extract resources/sample/abstracts.jsonl --out relations.jsonl"

    input: Path = Field(
        description="documents: .jsonl, PubTator text, BioC .xml or .json", json_schema_extra={"argument": True}
    )
    model: Path | None = Field(None, description="model folder  [default: the shipped CDR model]")
    out: Path | None = Field(None, description="file to write  [default: NAME.relations.jsonl in the current folder]")
    format: str = output_format()
    status: Path | None = Field(
        None, description="file with one row for each input record  [default: OUT.status.jsonl]"
    )
    tagger: Literal["spacy", "bran", "dictionary", "none"] = Field(
        "spacy", description="tagger for records without entities"
    )
    tagger_model: str | None = Field(
        None, description="spaCy or scispaCy model, by name or folder  [default: the shipped tagger]"
    )
    linker: Path | None = Field(None, description="folder written by build-linker  [default: the shipped linker]")
    n_process: int = Field(1, ge=1, description="number of tagging processes")
    graph: Path | None = GRAPH
    min_score: float | None = Field(
        None, ge=0, le=1, description="lowest score of a relation, instead of the model's thresholds"
    )
    all_scores: bool = Field(False, description="write every candidate pair with the score of every relation")
    max_evidence: int = Field(
        5, ge=1, description="most mention pairs to write as evidence of a relation, strongest first"
    )
    batch_tokens: int = BATCH_TOKENS
    device: str = DEVICE
    threads: int = THREADS
    force: bool = FORCE
    skip_bad: bool = Field(
        False, description="exit with status 0 even if some records cannot be read; the status file lists them"
    )
