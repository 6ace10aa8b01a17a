"""Several files of one service into a folder: downloaded, or copied from where the user has them.

`downloads.json` in the folder says what is there already, so that a killed fetch goes on. A file that is not what it
was when it was written is fetched anew.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biorel.counts import Counts, Reason
from biorel.errors import FetchError, InputError
from biorel.fetch.download import Entry, copy, digest, download
from biorel.fetch.http import Client

STATE = "downloads.json"


def _anything(path: Path) -> None:
    pass


@dataclass(frozen=True)
class Wanted:
    """A file to be had.

    Attributes:
        name: to save it by.
        urls: where it is, the best place first.
        sha256: of its content, where that is known.
        local_names: what a local copy may be called.
        check: raises InputError for a file that is not what it should be.
    """

    name: str
    urls: tuple[str, ...]
    sha256: str = ""
    local_names: tuple[str, ...] = ()
    check: Callable[[Path], None] = _anything


def fetch_files(files: Sequence[Wanted], folder: Path, client: Client, counts: Counts) -> list[Entry]:
    """Download the files, in their order; one that is there and sound is not asked for again.

    Raises:
        FetchError, InputError: a file could not be had, or is not what it should be. The others stay.
    """
    done = _state(folder)
    _tidy(folder, files)
    for wanted in files:
        target = folder / wanted.name
        entry = done.get(wanted.name)
        if entry and (entry.origin not in wanted.urls or not target.is_file()):
            entry = None
        if entry and digest(target) == entry.sha256:
            client.tell(f"{wanted.name}: there already")
        else:
            if entry:
                counts.add(Reason.FILE_DAMAGED, wanted.name)
            target.unlink(missing_ok=True)
            client.tell(f"{wanted.name}: downloading")
            done[wanted.name] = _from_any(wanted, target, client)
            _checked(wanted, target)
            write_state(folder, done)
        # whichever run fetched it: the books are those of the folder, and a killed run leaves none
        counts.add(Reason.FILES_FETCHED, wanted.name)
    return [done[wanted.name] for wanted in files]


def copy_files(files: Sequence[Wanted], folder: Path, local: Path, counts: Counts) -> list[Entry]:
    """Copy those of the files that lie in the local folder, or the one file that `local` is.

    Raises:
        InputError: none is there, or one is damaged or not what it should be.
    """
    entries = []
    for wanted in files:
        names = wanted.local_names or (wanted.name,)
        found = [local] if local.is_file() and local.name in names else [local / name for name in names]
        source = next((path for path in found if path.is_file()), None)
        if source is None:
            counts.add(Reason.FILE_NOT_IN_FROM, wanted.name)
            continue
        target = folder / source.name
        entries.append(copy(source, target, sha256=wanted.sha256))
        _checked(wanted, target)
        counts.add(Reason.FILES_COPIED, source.name)
    if not entries:
        looked_for = ", ".join(wanted.name for wanted in files)
        raise InputError(
            f"{local}: none of the files is here; looked for {looked_for}", "name the folder that holds them"
        )
    return entries


def write_state(folder: Path, done: dict[str, Entry]) -> None:
    """Write what is there, whole."""
    fresh = folder / f"{STATE}.new"
    content = {name: entry.to_json() for name, entry in done.items()}
    fresh.write_text(json.dumps(content, indent=1), encoding="utf-8")
    fresh.replace(folder / STATE)


def _tidy(folder: Path, files: Sequence[Wanted]) -> None:
    """Remove what an earlier command left here before it failed; no manifest would tell of it."""
    names = {wanted.name for wanted in files}
    ours = {STATE} | {name + suffix for name in names for suffix in ("", ".part", ".part.json")}
    for path in folder.iterdir():
        if path.is_dir():
            # what was unpacked of an archive, which is fetched anew
            shutil.rmtree(path)
        elif path.name not in ours and not path.name.startswith("."):
            path.unlink()


def _state(folder: Path) -> dict[str, Entry]:
    path = folder / STATE
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {name: Entry(**fields) for name, fields in content.items()}


def _from_any(wanted: Wanted, target: Path, client: Client) -> Entry:
    """The file from the first place that has it; the last place's error where none has."""
    for url in wanted.urls[:-1]:
        try:
            return download(client, url, target, sha256=wanted.sha256)
        except FetchError as error:
            client.tell(f"{error.message}; trying another place")
    return download(client, wanted.urls[-1], target, sha256=wanted.sha256)


def _checked(wanted: Wanted, target: Path) -> None:
    try:
        wanted.check(target)
    except InputError:
        target.unlink()
        raise
