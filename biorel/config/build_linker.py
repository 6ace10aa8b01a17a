"""The options of `biorel build-linker`."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, model_validator

from biorel.config.base import FORCE, OUT, Config


class BuildLinker(Config):
    """Build a linker: names of concepts from annotated documents, MeSH and CTD, with thresholds tuned on --dev."""

    example = (
        "biorel build-linker --documents resources/sample/abstracts.pubtator.txt --mesh resources/sample/mesh.tsv "
        "--out runs/sample-linker"
    )

    mesh: tuple[Path, ...] = Field((), description="MeSH files; descriptor and supplementary XML give synonyms, too")
    ctd: Path | None = Field(
        None, description="folder with CTD_chemicals, CTD_diseases, CTD_genes (those that are there)"
    )
    documents: tuple[Path, ...] = Field((), description="documents with linked mentions, whose names are learned")
    dev: tuple[Path, ...] = Field(
        (), description="documents to tune on  [default: some of --documents, which are learned from afterwards]"
    )
    held_out: float = Field(0.15, gt=0, lt=1, description="without --dev: share of the documents to tune on")
    seed: int = Field(0, ge=0, description="seed of the choice of those documents")
    out: Path = OUT
    force: bool = FORCE

    @model_validator(mode="after")
    def _check(self) -> BuildLinker:
        if not (self.mesh or self.ctd or self.documents):
            raise ValueError("no names: give --documents, --mesh or --ctd")
        return self
