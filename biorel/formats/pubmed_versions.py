"""Find the current citation of each PMID in baseline and update files, which may be given in any order.

The current citation has the highest version. Of equal versions, the one revised last is current, and of equal dates,
the one in the later file. NLM numbers baseline and update files consecutively. A deletion removes every citation of its
PMID except those in files with a higher number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from biorel.errors import InputError
from biorel.formats.pubmed import Citation, Deletion

_NUMBERED = re.compile(r"pubmed(\d+)n(\d+)\.xml(?:\.gz)?", re.IGNORECASE)
_SUFFIXES = (".xml", ".xml.gz")

Rank = tuple[int, str, int, int]
"""(version, date of revision, place of the file, place in the file); the greatest is current."""


def baseline_files(paths: Iterable[Path]) -> list[Path]:
    """The given XML files and those in the given folders, without repeats. NLM's numbered files come last, by number.

    Raises:
        InputError: a path is missing, or no XML file is found.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if not path.exists():
            raise InputError(f"{path}: no such file or folder", "check the path")
        files = path.rglob("*") if path.is_dir() else [path]
        found.update(dict.fromkeys(item for item in files if item.is_file() and item.name.endswith(_SUFFIXES)))
    if not found:
        named = ", ".join(map(str, paths))
        raise InputError(f"{named}: no .xml or .xml.gz file", "name a folder of PubMed baseline or update files")
    return sorted(found, key=lambda path: (*(_number(path) or (-1, -1)), path.name, str(path)))


def _number(path: Path) -> tuple[int, int] | None:
    match = _NUMBERED.fullmatch(path.name)
    return (int(match[1]), int(match[2])) if match else None


class LatestVersions:
    """Collects all citations and deletions, and finds the current citations.

    It needs about 200 bytes of memory for each PMID.
    """

    def __init__(self, files: Iterable[Path] = ()) -> None:
        self._numbered = [_number(path) is not None for path in files]
        self._best: dict[int, Rank] = {}
        self._deleted: dict[int, int] = {}

    def note(self, record: Citation | Deletion, file: int, place: int) -> None:
        """Add a record, found at `place` in the file with the index `file`."""
        if isinstance(record, Deletion):
            key = int(record.doc_id)
            self._deleted[key] = max(file, self._deleted.get(key, -1))
            return
        key = int(record.document.doc_id)
        rank = (record.article.version, record.revised, file, place)
        if key not in self._best or rank > self._best[key]:
            self._best[key] = rank

    def deleted(self, doc_id: str) -> bool:
        """Whether the PMID was deleted and not published again."""
        key = int(doc_id)
        if key not in self._deleted:
            return False
        file = self._best[key][2] if key in self._best else -1
        given_again = file > self._deleted[key] and self._numbered[file] and self._numbered[self._deleted[key]]
        return not given_again

    def is_current(self, record: Citation, file: int, place: int) -> bool:
        """Whether this citation is the current one of its PMID."""
        return self._best[int(record.document.doc_id)][2:] == (file, place) and not self.deleted(record.document.doc_id)
