"""A long fetch in parts, one file each, so that a killed one goes on with what it lacks.

A part is a text file that appears when its answer was read to the end; so each that is there is whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from biorel.errors import FetchError

REQUEST = "request.json"
MOST_FAILURES = 3


class FetchBatches:
    """The parts of one request, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(exist_ok=True)

    def fetch(
        self, count: int, fetch: Callable[[int], Iterable[str]], progress: Callable[[str], None]
    ) -> dict[int, FetchError]:
        """Fetch every part that is not there; returns those that failed, with the reason.

        Args:
            count: of the parts.
            fetch: the lines of one part; none of them may hold a line break.
            progress: is told of each part.

        Raises:
            FetchError: `MOST_FAILURES` parts failed one after the other, so that the service seems to be down.
        """
        failed: dict[int, FetchError] = {}
        in_a_row = 0
        for number in range(count):
            if self.path(number).is_file():
                continue
            try:
                self.write(number, fetch(number))
            except FetchError as error:
                failed[number] = error
                in_a_row += 1
                progress(f"part {number + 1} of {count} failed: {error.message}")
                if in_a_row == MOST_FAILURES:
                    raise FetchError(
                        f"{MOST_FAILURES} parts one after the other failed; the last one: {error.message}",
                        "what was fetched is kept: give the same command again later to go on",
                    ) from error
            else:
                in_a_row = 0
                progress(f"part {number + 1} of {count}")
        return failed

    def write(self, number: int, lines: Iterable[str]) -> None:
        """Write a part, whole."""
        path = self.path(number)
        fresh = path.with_suffix(".new")
        with fresh.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(f"{line}\n" for line in lines)
        fresh.replace(path)

    def read(self, number: int) -> Iterator[str]:
        """The lines of a part without their ends; nothing where it is not there."""
        if self.path(number).is_file():
            with self.path(number).open(encoding="utf-8", newline="\n") as stream:
                for line in stream:
                    yield line.removesuffix("\n")

    def path(self, number: int) -> Path:
        """Where a part is, or will be."""
        return self._folder / f"{number + 1:06d}.part"


def same_request(folder: Path, request: Mapping[str, Any]) -> bool:
    """Whether the folder holds the work of this very request."""
    path = folder / REQUEST
    return path.is_file() and bool(json.loads(path.read_text(encoding="utf-8")) == request)


def write_request(folder: Path, request: Mapping[str, Any]) -> None:
    """Note which request the work in the folder is for: last, as the work counts from then on."""
    fresh = folder / f"{REQUEST}.new"
    fresh.write_text(json.dumps(request, indent=1), encoding="utf-8")
    fresh.replace(folder / REQUEST)
