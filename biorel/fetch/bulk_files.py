"""Downloads the bulk files of one service, or copies them from a local folder.

`downloads.json` lists the files that are complete, so that a killed fetch resumes. A listed file
that was changed afterwards is fetched again.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from biorel.counts import Counts, Reason
from biorel.errors import FetchError, InputError
from biorel.fetch.download import DownloadedFile, copy, download, sha256_of
from biorel.fetch.http import Client

STATE = "downloads.json"


def _accept(path: Path) -> None:
    pass


@dataclass(frozen=True)
class BulkFile:
    """A file to fetch.

    Attributes:
        name: the name of the saved file.
        urls: the addresses of the file, in the order in which they are tried.
        sha256: the SHA-256 of the content; empty if not known.
        local_names: possible names of a local copy; if empty, only `name` is possible.
        check: raises InputError for a file with the wrong content.
    """

    name: str
    urls: tuple[str, ...]
    sha256: str = ""
    local_names: tuple[str, ...] = ()
    check: Callable[[Path], None] = _accept


def fetch_files(files: Sequence[BulkFile], folder: Path, client: Client, counts: Counts) -> list[DownloadedFile]:
    """Download the files in their order, except those that are already complete.

    `downloads.json` stays in the folder. The caller removes it when nothing else can fail.

    Raises:
        FetchError, InputError: a file is not available or has the wrong content. The other files are kept.
    """
    if not (folder / STATE).is_file():
        write_state(folder, {})
    done = _read_state(folder)
    _remove_foreign(folder, files)
    for file in files:
        target = folder / file.name
        known = done.get(file.name)
        if known and (known.origin not in file.urls or not target.is_file()):
            known = None
        if known and sha256_of(target) == known.sha256:
            client.report(f"{file.name}: already complete")
        else:
            if known:
                counts.add(Reason.FILE_DAMAGED, file.name)
            target.unlink(missing_ok=True)
            client.report(f"{file.name}: downloading")
            done[file.name] = _download_from_any(file, target, client)
            _check(file, target)
            write_state(folder, done)
        # counted even if an earlier, killed run fetched it: that run left no counts
        counts.add(Reason.FILES_FETCHED, file.name)
    return [done[file.name] for file in files]


def copy_files(files: Sequence[BulkFile], folder: Path, local: Path, counts: Counts) -> list[DownloadedFile]:
    """Copy the files that are in a local folder, or the one file that `local` names.

    Raises:
        InputError: the folder contains none of the files, or a file is damaged or has the wrong content.
    """
    copied = []
    for file in files:
        names = file.local_names or (file.name,)
        candidates = [local] if local.is_file() and local.name in names else [local / name for name in names]
        source = next((path for path in candidates if path.is_file()), None)
        if source is None:
            counts.add(Reason.FILE_NOT_IN_FROM, file.name)
            continue
        target = folder / source.name
        copied.append(copy(source, target, sha256=file.sha256))
        _check(file, target)
        counts.add(Reason.FILES_COPIED, source.name)
    if not copied:
        expected = ", ".join(file.name for file in files)
        raise InputError(
            f"{local}: contains none of the files {expected}", "give the folder that contains them with --from"
        )
    return copied


def write_state(folder: Path, done: dict[str, DownloadedFile]) -> None:
    """Replace `downloads.json` in one step."""
    fresh = folder / f"{STATE}.new"
    content = {name: asdict(file) for name, file in done.items()}
    fresh.write_text(json.dumps(content, indent=1), encoding="utf-8")
    fresh.replace(folder / STATE)


def _read_state(folder: Path) -> dict[str, DownloadedFile]:
    content: dict[str, Any] = json.loads((folder / STATE).read_text(encoding="utf-8"))
    return {name: DownloadedFile(**fields) for name, fields in content.items()}


def _remove_foreign(folder: Path, files: Sequence[BulkFile]) -> None:
    """Remove files that an earlier, failed command left in the folder, as the manifest would not list them."""
    names = {file.name for file in files}
    ours = {STATE} | {name + suffix for name in names for suffix in ("", ".part", ".part.json")}
    for path in folder.iterdir():
        if path.is_dir():
            # from an unpacked archive; the archive is fetched again
            shutil.rmtree(path)
        elif path.name not in ours and not path.name.startswith("."):
            path.unlink()


def _download_from_any(file: BulkFile, target: Path, client: Client) -> DownloadedFile:
    """Download the file from the first address that works. If all fail, the error of the last address is raised."""
    for url in file.urls[:-1]:
        try:
            return download(client, url, target, sha256=file.sha256)
        except FetchError as error:
            client.report(f"{error.message}; trying the next address")
    return download(client, file.urls[-1], target, sha256=file.sha256)


def _check(file: BulkFile, target: Path) -> None:
    try:
        file.check(target)
    except InputError:
        target.unlink()
        raise
