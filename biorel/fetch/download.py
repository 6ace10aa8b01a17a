"""Fetches or copies one file, verifies it, and then moves it into place.

A download is kept as NAME.part in the same folder until it is verified. After an interruption it resumes if the ETag
or the date says that the server still has the same file; otherwise it starts again.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import requests

from biorel.errors import FetchError, InputError
from biorel.fetch.http import BadAnswerError, Client, page_title
from biorel.formats.files import GZIP_MAGIC, HEAD_BYTES, open_bytes

_CHUNK = 2**18
_REPORT_INTERVAL = 10.0  # seconds
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")


@dataclass(frozen=True, slots=True)
class DownloadedFile:
    """The provenance of a file, for the manifest. `origin` is the address or the local path that the file came from."""

    name: str
    origin: str
    date: str
    bytes: int
    sha256: str
    last_modified: str = ""


@dataclass(frozen=True, slots=True)
class _RemoteFile:
    """The server's description of the file that a part belongs to."""

    url: str
    etag: str
    last_modified: str
    size: int | None

    @property
    def validator(self) -> str:
        """The value for If-Range: a strong ETag, or the date."""
        return self.etag if self.etag and not self.etag.startswith("W/") else self.last_modified


def download(client: Client, url: str, target: Path, *, sha256: str = "") -> DownloadedFile:
    """Fetch a file.

    Args:
        client: the client of the service that the address belongs to.
        url: the address of the file.
        target: the path of the saved file; its folder must exist.
        sha256: the expected digest; empty if not known.

    Raises:
        FetchError: no try gave a complete file with the right content. A part that can be resumed is kept.
    """
    part, note = target.with_name(target.name + ".part"), target.with_name(target.name + ".part.json")

    def attempt() -> DownloadedFile:
        remote = _receive(client, url, part, note)
        try:
            _verify(part, target.name)
        except InputError as error:
            part.unlink()
            raise BadAnswerError(error.message.removeprefix(f"{part}: ")) from error
        if sha256 and (actual := sha256_of(part)) != sha256:
            part.unlink()
            raise FetchError(
                f"{url}: SHA-256 is {actual}, expected {sha256}",
                "check whether a changed file was published at this address",
            )
        file = _describe(target.name, url, part, remote.last_modified)
        part.replace(target)
        note.unlink()
        return file

    return client.repeat(url, attempt)


def copy(source: Path, target: Path, *, sha256: str = "") -> DownloadedFile:
    """Copy a local file, with the same checks as for a download.

    Raises:
        InputError: the file is missing, is a web page or damaged gzip, or has the wrong digest.
    """
    if not source.is_file():
        raise InputError(f"{source}: no such file", "check the path")
    part = target.with_name(target.name + ".part")
    try:
        _verify(source, source.name)
        if sha256 and (actual := sha256_of(source)) != sha256:
            raise InputError(
                f"{source}: SHA-256 is {actual}, expected {sha256}", "check whether this is the right file"
            )
        shutil.copyfile(source, part)
        file = _describe(target.name, str(source.resolve()), part, "")
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return file


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _receive(client: Client, url: str, part: Path, note: Path) -> _RemoteFile:
    """Complete the partial file; returns the server's description of the file."""
    known = _resumable(part, note, url)
    offset = part.stat().st_size if known else 0
    if known and known.size == offset:
        return known
    headers = {"Accept-Encoding": "identity"}
    if known:
        headers |= {"Range": f"bytes={offset}-", "If-Range": known.validator}
    with client.opened(url, headers=headers, accept=(200, 206, 416)) as response:
        if response.status_code == 416:
            part.unlink(missing_ok=True)
            raise BadAnswerError("the partial download does not belong to this file")
        resumed = response.status_code == 206
        if resumed:
            match = _RANGE.match(response.headers.get("Content-Range", ""))
            changed = known is None or response.headers.get("ETag", known.etag) != known.etag
            if (
                known is None
                or changed
                or not match
                or int(match[1]) != offset
                or known.size not in (None, int(match[2]))
            ):
                part.unlink(missing_ok=True)
                raise BadAnswerError("the server sent a different range than requested")
            remote = known
        else:
            remote = _remote_file(response, url)
            note.write_text(json.dumps(asdict(remote)), encoding="utf-8")
        _write(client, response, part, remote, append=resumed)
    size = part.stat().st_size
    if remote.size is not None and size != remote.size:
        if size > remote.size:
            part.unlink()
        raise BadAnswerError(f"received {size} bytes, expected {remote.size}")
    return remote


def _resumable(part: Path, note: Path, url: str) -> _RemoteFile | None:
    """The description of the file that the part belongs to, if the download can resume."""
    if not part.is_file() or not part.stat().st_size or not note.is_file():
        return None
    try:
        remote = _RemoteFile(**json.loads(note.read_text(encoding="utf-8")))
    except (ValueError, TypeError):
        return None
    return remote if remote.url == url and remote.validator else None


def _remote_file(response: requests.Response, url: str) -> _RemoteFile:
    length = response.headers.get("Content-Length", "")
    return _RemoteFile(
        url,
        response.headers.get("ETag", ""),
        response.headers.get("Last-Modified", ""),
        int(length) if length.isdecimal() else None,
    )


def _write(client: Client, response: requests.Response, part: Path, remote: _RemoteFile, *, append: bool) -> None:
    """Write the body without decoding its Content-Encoding, so that a .gz file stays compressed."""
    reported = client.clock.now()
    with part.open("ab" if append else "wb") as stream:
        for number, chunk in enumerate(response.raw.stream(_CHUNK, decode_content=False)):
            if number == 0 and not append:
                client.refuse_page(chunk[:HEAD_BYTES], remote.url)
            stream.write(chunk)
            if client.clock.now() - reported >= _REPORT_INTERVAL:
                reported = client.clock.now()
                total = f" of {remote.size / 1e6:.0f}" if remote.size else ""
                client.report(f"{part.name.removesuffix('.part')}: {stream.tell() / 1e6:.0f}{total} MB")


def _verify(path: Path, name: str) -> None:
    """Raises InputError for a web page, an empty file, or gzip that cannot be decompressed completely."""
    with path.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
    title = page_title(head)
    if title:
        raise InputError(f"{path}: a {title} instead of data", "download the file with a browser")
    if not head:
        raise InputError(f"{path}: the file is empty", "fetch or copy the file again")
    if name.endswith(".gz") and not head.startswith(GZIP_MAGIC):
        raise InputError(f"{path}: not a gzip file, despite the name {name}")
    if head.startswith(GZIP_MAGIC):
        with open_bytes(path) as decompressed:
            while decompressed.read(_CHUNK):
                pass


def _describe(name: str, origin: str, path: Path, last_modified: str) -> DownloadedFile:
    date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return DownloadedFile(name, origin, date, path.stat().st_size, sha256_of(path), last_modified)
