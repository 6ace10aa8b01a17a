"""The options of `biorel build-linker`."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, model_validator

from biorel.config.base import FORCE, OUT, Config


class BuildLinker(Config):
    """Build a linker from the names in annotated documents, MeSH and CTD, with similarity thresholds tuned on --dev."""

    example = (
        "biorel build-linker --documents resources/sample/abstracts.pubtator.txt --mesh resources/sample/mesh.tsv "
        "--out runs/sample-linker"
    )

    mesh: tuple[Path, ...] = Field((), description="MeSH files; descriptor and supplementary XML also give synonyms")
    ctd: Path | None = Field(None, description="folder with any of CTD_chemicals, CTD_diseases and CTD_genes")
    documents: tuple[Path, ...] = Field((), description="documents with linked mentions, whose names are added")
    dev: tuple[Path, ...] = Field(
        (), description="documents to tune on  [default: a share of --documents, learned from afterwards]"
    )
    held_out: float = Field(0.15, gt=0, lt=1, description="without --dev: share of --documents to tune on")
    seed: int = Field(0, ge=0, description="seed for choosing those documents")
    out: Path = OUT
    force: bool = FORCE

    @model_validator(mode="after")
    def _check(self) -> BuildLinker:
        if not (self.mesh or self.ctd or self.documents):
            raise ValueError("no names: give --documents, --mesh or --ctd")
        return self
