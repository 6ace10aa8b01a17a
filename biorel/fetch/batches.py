"""Fetches many records in batches, one file for each batch, so that a killed command resumes with the missing ones.

A batch file appears only after its whole answer was received, so every existing file is complete.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from biorel.errors import FetchError

REQUEST = "request.json"
# files of the output: the requested PMIDs, and those without a document, with the reason
PMIDS, MISSING = "pmids.txt", "missing.tsv"
MAX_FAILURES_IN_A_ROW = 3
_BATCHES = "parts"
_RESUME = "the fetched batches are kept: repeat the command to fetch the rest"


class FetchBatches:
    """The batches of one request, kept in an output folder until the command is done.

    `request.json` describes the request. When a request begins, this file is written last; from then on the batches in
    the folder belong to that request.
    """

    def __init__(self, folder: Path) -> None:
        self._request = folder / REQUEST
        self._folder = folder / _BATCHES
        self._pmids = folder / PMIDS

    def holds(self, request: Mapping[str, Any]) -> bool:
        """Whether the folder holds work for exactly this request."""
        if not self._request.is_file():
            return False
        return bool(json.loads(self._request.read_text(encoding="utf-8")) == request)

    def discard(self) -> None:
        """Remove the request and all batches, if there are any."""
        # the request goes first: without it the batches belong to no request
        self._request.unlink(missing_ok=True)
        shutil.rmtree(self._folder, ignore_errors=True)

    def resume_or_begin(self, request: Mapping[str, Any]) -> None:
        """Keep the batches if they belong to this request; otherwise discard them and begin this request."""
        if not self.holds(request):
            self.discard()
            # of another request: the result of its search
            self._pmids.unlink(missing_ok=True)
            self.begin(request)

    def begin(self, request: Mapping[str, Any]) -> None:
        """Record the request that the following batches belong to."""
        fresh = self._request.with_suffix(".new")
        fresh.write_text(json.dumps(request, indent=1), encoding="utf-8")
        fresh.replace(self._request)

    def fetch(
        self, count: int, fetch: Callable[[int], Iterable[str]], progress: Callable[[str], None]
    ) -> dict[int, FetchError]:
        """Fetch every missing batch; returns the errors of the failed batches by batch number.

        Args:
            count: number of batches.
            fetch: returns the lines of one batch; a line contains no line break.
            progress: receives a line for each batch.

        Raises:
            FetchError: `MAX_FAILURES_IN_A_ROW` batches failed in a row, so the service seems to be down.
        """
        self._folder.mkdir(exist_ok=True)
        failed: dict[int, FetchError] = {}
        in_a_row = 0
        for number in range(count):
            if self._path(number).is_file():
                continue
            try:
                self.write(number, fetch(number))
            except FetchError as error:
                failed[number] = error
                in_a_row += 1
                progress(f"batch {number + 1} of {count} failed: {error.message}")
                if in_a_row == MAX_FAILURES_IN_A_ROW:
                    raise FetchError(
                        f"{MAX_FAILURES_IN_A_ROW} batches in a row failed; the last one: {error.message}", _RESUME
                    ) from error
            else:
                in_a_row = 0
                progress(f"batch {number + 1} of {count}")
        return failed

    def fetch_pmids(
        self,
        pmids: Sequence[str],
        size: int,
        fetch: Callable[[Sequence[str]], Iterable[str]],
        progress: Callable[[str], None],
        *,
        incomplete: bool = False,
    ) -> dict[str, str]:
        """Fetch PMIDs in batches of `size`; returns the PMIDs of failed batches, each with the reason.

        Args:
            pmids: all PMIDs of the request.
            size: PMIDs per batch.
            fetch: returns the lines for the PMIDs of one batch.
            progress: receives a line for each batch.
            incomplete: whether to accept failed batches.

        Raises:
            FetchError: as for `fetch`, or a batch failed and `incomplete` is false.
        """
        batches = [pmids[start : start + size] for start in range(0, len(pmids), size)]
        failed = self.fetch(len(batches), lambda number: fetch(batches[number]), progress)
        if failed and not incomplete:
            number, error = next(iter(failed.items()))
            raise FetchError(
                f"{len(failed)} of {len(batches)} batches failed; the first, number {number + 1}: {error.message}",
                f"{_RESUME}, or accept the result with --incomplete",
            )
        return {pmid: f"not fetched: {error.message}" for number, error in failed.items() for pmid in batches[number]}

    def write(self, number: int, lines: Iterable[str]) -> None:
        """Write a batch. Its file appears only when the batch is complete."""
        path = self._path(number)
        fresh = path.with_suffix(".new")
        with fresh.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(f"{line}\n" for line in lines)
        fresh.replace(path)

    def read(self) -> Iterator[tuple[int, int, str]]:
        """Yield (batch number, line number, line without line break) for all batches in order; numbers start at 0."""
        for path in sorted(self._folder.glob("*.part")):
            with path.open(encoding="utf-8", newline="\n") as stream:
                for place, line in enumerate(stream):
                    yield int(path.stem) - 1, place, line.removesuffix("\n")

    def _path(self, number: int) -> Path:
        return self._folder / f"{number + 1:06d}.part"


def digest_of(pmids: Sequence[str] | None) -> str:
    """A digest that identifies a list of PMIDs in a request; empty if there is no list."""
    return "" if pmids is None else hashlib.sha256("\n".join(pmids).encode()).hexdigest()
