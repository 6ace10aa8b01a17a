"""The options of `biorel tag`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from biorel.config.base import DEVICE, FORCE, OUT, Config


class Tag(Config):
    """Find entities in documents and link them to concept ids.

    The output folder holds documents.parquet and mentions.parquet.
    """

    example = "biorel tag resources/sample/abstracts.jsonl --out runs/sample-tags"

    input: tuple[Path, ...] = Field(
        min_length=1,
        description="documents: .jsonl, PubTator, BioC or documents.parquet",
        json_schema_extra={"argument": True},
    )
    tagger: Literal["spacy", "bran", "dictionary", "imported"] = Field("spacy", description="how to find the entities")
    tagger_model: str | None = Field(
        None,
        description="spaCy or scispaCy model, by name or folder, or a BRAN model folder  [default: the shipped one]",
    )
    annotations: tuple[Path, ...] = Field(
        (), description="imported: PubTator, BioC or JSONL files with the mentions to use"
    )
    lexicon: Path | None = Field(
        None, description="dictionary: lexicon.parquet, or rows of name, tab, type  [default: the linker's]"
    )
    linker: Path | None = Field(None, description="folder written by build-linker  [default: the shipped linker]")
    link: bool = Field(True, description="link the mentions to concept ids")
    consistent: bool = Field(
        True, description="also tag other occurrences of a name that was tagged once in a document"
    )
    abbreviations: bool = Field(False, description="spacy: add scispaCy's abbreviation detector")
    scispacy_linker: Literal["", "mesh", "umls", "rxnorm", "go", "hpo"] = Field(
        "",
        description="spacy: link with scispaCy and this knowledge base instead (umls needs about 11 GB of memory)",
    )
    n_process: int = Field(1, ge=1, description="spacy: number of tagging processes")
    device: str = DEVICE
    strict: bool = Field(False, description="stop at a malformed row instead of counting it")
    out: Path = OUT
    force: bool = FORCE

    @model_validator(mode="after")
    def _check(self) -> Tag:
        if (self.tagger == "imported") != bool(self.annotations):
            raise ValueError("--tagger imported and --annotations go together")
        return self
