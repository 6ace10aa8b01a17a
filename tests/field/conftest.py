"""Local services, and fetches from them, for the faults of fetching."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from biorel.commands import fetch_ctd, fetch_pubmed
from biorel.config.fetch_pubmed import FetchPubmed
from biorel.fetch.eutils import BATCH
from tests.servers import Eutils, FakeClock, Server, article, running


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server that serves nothing yet."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("NCBI_API_KEY", raising=False)
    with running() as server:
        yield server


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """The clock of the fetch commands; its pauses take no time."""
    clock = FakeClock()
    for command in (fetch_ctd, fetch_pubmed):
        monkeypatch.setattr(command, "CLOCK", clock.clock)
    return clock


@pytest.fixture
def service(server: Server) -> Eutils:
    """The E-utilities with the articles 1 to 599."""
    return Eutils(server, {str(number): article(number, f"Title {number}.") for number in range(1, 3 * BATCH)})


@pytest.fixture
def pubmed(service: Eutils, clock: FakeClock, write: Callable[..., Path], tmp_path: Path) -> Callable[..., Path]:
    """Runs `biorel fetch pubmed` for these PMIDs into the folder `out`."""

    def _pubmed(*pmids: object, **options: Any) -> Path:
        if pmids:
            options["pmids"] = [write("pmids.txt", "".join(f"{pmid}\n" for pmid in pmids))]
        given = FetchPubmed.model_validate({"out": tmp_path / "out", "url": service.url, **options})
        return fetch_pubmed.run(given).path

    return _pubmed
