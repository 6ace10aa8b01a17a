"""The options of `biorel fetch pubmed`."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, model_validator

from biorel.config.base import FORCE, OUT, Config
from biorel.config.options import ALLOW_INCOMPLETE, URL


class FetchPubmed(Config):
    """Download articles from PubMed, with their years and a list of missing PMIDs.

    Repeat the command to resume a download that was stopped. With a key in NCBI_API_KEY it is three times as fast.
    """

    example = "biorel fetch pubmed --query 'lithium AND tremor' --max 500 --email you@example.org --out data/abstracts"

    pmids: tuple[Path, ...] = Field((), description="files with one PMID a line")
    query: str | None = Field(None, min_length=1, description="query in PubMed's syntax")
    ctd: Path | None = Field(None, description="folder of CTD files; fetches the articles of its curated rows")
    baseline: tuple[Path, ...] = Field(
        (),
        description="local baseline and update files, or folders of them, to read instead of the service; all PMIDs,"
        " or those of --pmids or --ctd",
    )
    max: int | None = Field(None, ge=1, description="largest number of articles")
    email: str | None = Field(None, pattern=r"^\S+@\S+$", description="your email address, which NCBI asks for")
    tool: str = Field("biorel", min_length=1, pattern=r"^\S+$", description="name of the program, as reported to NCBI")
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
