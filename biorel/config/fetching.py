"""What fetch takes."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from biorel.config.base import FORCE, OUT, Config

_URL = Field(None, description="base address of the service  [default: as in resources/services.toml]")
_INCOMPLETE = Field(False, description="accept batches that failed; their PMIDs are listed as missing")
_LOCAL = Field(None, alias="from", description="copy and verify local files of this folder instead of downloading")


class FetchPubmed(Config):
    """Fetch articles from PubMed: documents.parquet, their years, and a list of what is missing.

    A killed fetch goes on when the same command is given again. With a key in NCBI_API_KEY it is three times as fast.
    """

    example = "biorel fetch pubmed --query 'lithium AND tremor' --max 500 --email you@example.org --out data/abstracts"

    pmids: tuple[Path, ...] = Field((), description="files with one PMID a line")
    query: str | None = Field(None, min_length=1, description="a query in PubMed's language")
    ctd: Path | None = Field(None, description="folder of CTD files: the articles of its curated rows")
    baseline: tuple[Path, ...] = Field(
        (),
        description="read local baseline and update files (folders or files), of all PMIDs or those of --pmids/--ctd",
    )
    max: int | None = Field(None, ge=1, description="at most this many articles")
    email: str | None = Field(None, pattern=r"^\S+@\S+$", description="your address, which NCBI asks for")
    tool: str = Field("biorel", min_length=1, pattern=r"^\S+$", description="what NCBI is told that asks")
    url: str | None = _URL
    incomplete: bool = _INCOMPLETE
    out: Path = OUT
    force: bool = FORCE

    @model_validator(mode="after")
    def _check(self) -> FetchPubmed:
        given = [bool(self.pmids), self.query is not None, self.ctd is not None]
        if sum(given) > 1 or not (any(given) or self.baseline):
            raise ValueError("give one of --pmids, --query, --ctd and --baseline")
        if self.baseline and self.query:
            raise ValueError("--query asks the service; with --baseline give --pmids or --ctd, or none")
        return self


class FetchCtd(Config):
    """Fetch CTD's bulk files, or verify and copy them from a local folder (--from)."""

    example = "biorel fetch ctd --from resources/sample/ctd --out data/ctd"

    file: tuple[str, ...] = Field(
        (), description="a file by its name, such as CTD_genes_diseases  [default: all but the inferred ones]"
    )
    source: Path | None = _LOCAL
    url: str | None = _URL
    out: Path = OUT
    force: bool = FORCE


class FetchMesh(Config):
    """Fetch MeSH's descriptors, supplementary concepts and tree, or verify and copy local files (--from)."""

    example = "biorel fetch mesh --from resources/sample/mesh.tsv --out data/mesh"

    year: int | None = Field(None, ge=2000, le=2100, description="year of the MeSH edition  [default: this year]")
    source: Path | None = _LOCAL
    url: str | None = _URL
    out: Path = OUT
    force: bool = FORCE


class FetchPubtator(Config):
    """Fetch annotated abstracts from PubTator3, or out of its bulk dump (--dump)."""

    example = "biorel fetch pubtator --pmids pmids.txt --out data/pubtator"

    pmids: tuple[Path, ...] = Field(min_length=1, description="files with one PMID a line")
    format: Literal["biocjson", "pubtator"] = Field("biocjson", description="format that the service is asked for")
    dump: Path | None = Field(None, description="bioconcepts2pubtator_offsets(.gz): take the documents out of it")
    url: str | None = _URL
    incomplete: bool = _INCOMPLETE
    out: Path = OUT
    force: bool = FORCE


class FetchCorpus(Config):
    """Fetch a gold corpus from where its authors publish it, or verify and unpack a local copy (--from)."""

    example = "biorel fetch corpus cdr --out data/cdr"

    name: Literal["cdr", "chemprot", "drugprot", "biored", "chemdisgene"] = Field(
        description="cdr, chemprot, drugprot, biored or chemdisgene", json_schema_extra={"argument": True}
    )
    source: Path | None = _LOCAL
    url: str | None = Field(None, description="a mirror that holds the files by their names")
    out: Path = OUT
    force: bool = FORCE
