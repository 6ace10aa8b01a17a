"""The options of `biorel build-graph`."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, model_validator

from biorel.config.base import FORCE, OUT, Config


class BuildGraph(Config):
    """Build a knowledge graph from MeSH's hierarchy, CTD's curated relations and your own triples.

    Each triple keeps the articles that it was curated from. A document never receives a triple known only from its own
    article. `evaluate` refuses a graph that shares articles with the documents it scores. Leave those
    articles out with --exclude-pmids or --exclude-dataset.
    """

    example = "biorel build-graph --mesh resources/sample/mesh.tsv --ctd resources/sample/ctd --out runs/sample-graph"

    mesh: tuple[Path, ...] = Field((), description="MeSH files, for is_a triples and the names of concepts")
    ctd: tuple[Path, ...] = Field(
        (), description="folder of CTD files, or a table with the columns ChemicalID, DiseaseID and PubMedIDs"
    )
    spo: tuple[Path, ...] = Field(
        (), description="files of your own triples: subject, predicate and object, separated by tabs"
    )
    exclude_pmids: tuple[Path, ...] = Field(
        (), description="files of article ids, one a line, whose curations are left out"
    )
    exclude_dataset: Path | None = Field(
        None, description="dataset folder; the curations of its dev and test articles are left out"
    )
    out: Path = OUT
    force: bool = FORCE

    @model_validator(mode="after")
    def _check(self) -> BuildGraph:
        if not (self.mesh or self.ctd or self.spo):
            raise ValueError("no knowledge: give --mesh, --ctd or --spo")
        return self
