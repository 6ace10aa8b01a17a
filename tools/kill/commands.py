"""The commands to kill, their inputs, and digests of the parts of an output that must not vary between runs.

Every run is a fork of one process that has only imported the commands. So a run spends no time on imports, and no
thread is lost in the fork.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import time
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd

from biorel.commands import extract, fetch_ctd, fetch_pubmed, tag, train
from biorel.config.extract import Extract
from biorel.config.fetch_ctd import FetchCtd
from biorel.config.fetch_pubmed import FetchPubmed
from biorel.config.tag import Tag
from biorel.config.train import Train
from tests.command_runs import SAMPLE, TINY, sample_dataset
from tests.servers import Eutils, FakeClock, Reply, Request, article, running, served_file

# fields that describe the run rather than the output: times, whether it resumed, the number of requests
_RUN_FIELDS = ("seconds", "seconds_per_epoch", "documents_per_second", "began", "date", "resumed", "requests")
_PMIDS = [str(number) for number in range(1, 1001)]
_CTD = ("CTD_chem_gene_ixn_types", "CTD_chemicals_diseases")


@dataclass(frozen=True)
class Command:
    """A command on tiny data: `run` writes `out` into the folder that it is given, perhaps with other files."""

    out: str
    run: Callable[[Path], object]


def fork(work: Callable[[], object]) -> int:
    """Start the work in a child process and return its id. The child exits with 0, or with 1 after a traceback."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            work()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def wait(child: int) -> None:
    """Wait for a child process; raise if it failed."""
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def serve(place: Path) -> None:
    """Answer as PubMed and CTD do, without end, and write the address to `place`. CTD is slow, so that kills hit it."""
    with running() as server:
        Eutils(server, {pmid: article(pmid, f"Title {pmid}.", "Text. " * 20) for pmid in _PMIDS})
        for name in _CTD:
            content = (SAMPLE / "ctd" / f"{name}.csv").read_bytes()
            server.on(f"/ctd/{name}.csv", _slow(served_file(content)))
            server.on(f"/ctd/{name}.csv.gz", _slow(served_file(gzip.compress(content, mtime=0))))
        place.with_suffix(".new").write_text(server.url, encoding="utf-8")
        place.with_suffix(".new").replace(place)
        time.sleep(10**6)


def _slow(answer: Any) -> Callable[[Request], Reply]:
    def later(request: Request) -> Reply:
        time.sleep(0.05)
        return answer(request)

    return later


def commands(inputs: Path, url: str) -> dict[str, Command]:
    """The commands by name.

    Args:
        inputs: the folder that `prepare` filled.
        url: address of the test server.
    """
    fetch_pubmed.CLOCK = fetch_ctd.CLOCK = FakeClock().clock

    def pubmed(folder: Path) -> object:
        config = FetchPubmed(pmids=(inputs / "pmids.txt",), url=f"{url}/eutils", out=folder / "out")
        return fetch_pubmed.run(config)

    def ctd(folder: Path) -> object:
        return fetch_ctd.run(FetchCtd(file=_CTD, url=f"{url}/ctd", out=folder / "out"))

    def tagged(folder: Path) -> object:
        return tag.run(Tag(input=(inputs / "few.jsonl",), out=folder / "out"))

    def trained(folder: Path) -> object:
        return train.run(Train.model_validate({"dataset": inputs / "dataset", "out": folder / "out", **TINY}))

    def extracted(folder: Path) -> object:
        return extract.run(Extract(input=inputs / "few.jsonl", out=folder / "out.parquet", min_score=0.1, threads=1))

    return {
        "fetch pubmed": Command("out", pubmed),
        "fetch ctd": Command("out", ctd),
        "tag": Command("out", tagged),
        "build-dataset": Command("dataset", lambda folder: sample_dataset(folder)),
        "train": Command("out", trained),
        "extract": Command("out.parquet", extracted),
    }


def prepare(inputs: Path) -> None:
    """Write the inputs of the commands."""
    (inputs / "pmids.txt").write_text("\n".join(_PMIDS), encoding="utf-8")
    lines = (SAMPLE / "abstracts.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (inputs / "few.jsonl").write_text("".join(lines[:6]), encoding="utf-8")
    wait(fork(partial(sample_dataset, inputs)))


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every file in a folder, by path: of all bytes of a table, and of JSON without the fields of the run
    and the name of the folder."""
    candidates = (path for path in sorted(folder.rglob("*")) if path.is_file() and "events" not in path.parts)
    # a kill between the last move and the unlocking leaves a lock file that nobody holds, which is harmless
    files = (path for path in candidates if path.suffix != ".lock")
    return {str(path.relative_to(folder)): hashlib.sha256(_content(path, folder)).hexdigest() for path in files}


def _content(path: Path, folder: Path) -> bytes:
    if path.name == "manifest.json":
        manifest = json.dumps(_without_run_fields(json.loads(path.read_text(encoding="utf-8"))))
        return manifest.replace(str(folder), "").encode()
    if path.name == "metrics.json":
        return json.dumps(_without_run_fields(json.loads(path.read_text(encoding="utf-8")))).encode()
    if path.name == "history.parquet":
        return pd.read_parquet(path).drop(columns=list(_RUN_FIELDS), errors="ignore").to_csv().encode()
    return path.read_bytes()


def _without_run_fields(value: Any) -> Any:
    """A JSON value without the fields of the run, at any depth."""
    if isinstance(value, dict):
        return {name: _without_run_fields(item) for name, item in value.items() if name not in _RUN_FIELDS}
    return [_without_run_fields(item) for item in value] if isinstance(value, list) else value
