"""The options of `biorel build-graph`."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, model_validator

from biorel.config.base import FORCE, OUT, Config


class BuildGraph(Config):
    """Build a knowledge graph: MeSH's hierarchy, CTD's curated relations by concept, triples of your own.

    Every triple keeps the articles that it was curated from. A document never gets a triple that only its own article
    has, and evaluate refuses a graph that shares articles with what it evaluates on: leave those out here.
    """

    example = "biorel build-graph --mesh resources/sample/mesh.tsv --ctd resources/sample/ctd --out runs/sample-graph"

    mesh: tuple[Path, ...] = Field((), description="MeSH files: is_a over preferred terms, and names of concepts")
    ctd: tuple[Path, ...] = Field(
        (), description="folder of CTD bulk files, or a table of ChemicalID, DiseaseID, PubMedIDs"
    )
    spo: tuple[Path, ...] = Field((), description="triples of your own: subject, predicate, object, with tabs between")
    exclude_pmids: tuple[Path, ...] = Field((), description="article ids, one a line, whose curations are left out")
    exclude_dataset: Path | None = Field(
        None, description="dataset folder: the curations of its dev and test articles are left out"
    )
    out: Path = OUT
    force: bool = FORCE

    @model_validator(mode="after")
    def _check(self) -> BuildGraph:
        if not (self.mesh or self.ctd or self.spo):
            raise ValueError("no knowledge: give --mesh, --ctd or --spo")
        return self
