"""The options of `biorel fetch pubmed`."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, model_validator

from biorel.config.base import FORCE, OUT, Config
from biorel.config.options import ALLOW_INCOMPLETE, URL


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
    url: str | None = URL
    incomplete: bool = ALLOW_INCOMPLETE
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
