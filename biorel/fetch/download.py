"""One file from a service or from a local copy, verified, and moved into place whole.

A download lies beside its target as NAME.part until it is verified. After a break it goes on where it stopped, if the
server says by ETag or date that the file is still the same one; else it begins anew.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import requests

from biorel.errors import FetchError, InputError
from biorel.fetch.http import BadAnswerError, Client
from biorel.fetch.web_pages import page_title
from biorel.formats.files import GZIP_MAGIC, HEAD_BYTES, open_bytes

_CHUNK = 2**18
_TOLD_EVERY = 10.0  # seconds
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")


@dataclass(frozen=True, slots=True)
class Entry:
    """How a file came to be here, for the manifest; `origin` is its address or the path that it was copied from."""

    name: str
    origin: str
    date: str
    bytes: int
    sha256: str
    last_modified: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Origin:
    """What the server says of the file that a part belongs to."""

    url: str
    etag: str
    last_modified: str
    size: int | None

    @property
    def validator(self) -> str:
        """What If-Range may hold: a strong ETag, or the date."""
        return self.etag if self.etag and not self.etag.startswith("W/") else self.last_modified


def download(client: Client, url: str, target: Path, *, sha256: str = "") -> Entry:
    """Fetch a file to `target`.

    Args:
        client: of the service that the address belongs to.
        url: the file.
        target: where to put it; its folder exists.
        sha256: what the content must be, where that is known.

    Raises:
        FetchError: no whole and sound file in all tries; a part that can be gone on with is left.
    """
    part, note = target.with_name(target.name + ".part"), target.with_name(target.name + ".part.json")

    def attempt() -> Entry:
        origin = _receive(client, url, part, note)
        try:
            _verify(part, target.name)
        except InputError as error:
            part.unlink()
            raise BadAnswerError(error.message.removeprefix(f"{part}: ")) from error
        if sha256 and (found := digest(part)) != sha256:
            part.unlink()
            raise FetchError(f"{url}: SHA-256 {found} where {sha256} was expected", "was the file published anew?")
        entry = _entry(target.name, url, part, origin.last_modified)
        part.replace(target)
        note.unlink()
        return entry

    return client.repeated(url, attempt)


def copy(source: Path, target: Path, *, sha256: str = "") -> Entry:
    """Copy a local file to `target`, verified like a download.

    Raises:
        InputError: it is missing, a web page, damaged gzip, or not the content that is known.
    """
    if not source.is_file():
        raise InputError(f"{source}: no such file", "check the path")
    part = target.with_name(target.name + ".part")
    try:
        _verify(source, source.name)
        if sha256 and (found := digest(source)) != sha256:
            raise InputError(f"{source}: SHA-256 {found} where {sha256} was expected", "is this the right file?")
        shutil.copyfile(source, part)
        entry = _entry(target.name, str(source.resolve()), part, "")
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return entry


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _receive(client: Client, url: str, part: Path, note: Path) -> _Origin:
    """Bring the part to its full length; says what the server told of the file."""
    known = _known(part, note, url)
    offset = part.stat().st_size if known else 0
    if known and known.size == offset:
        return known
    headers = {"Accept-Encoding": "identity"}
    if known:
        headers |= {"Range": f"bytes={offset}-", "If-Range": known.validator}
    with client.opened(url, headers=headers, accept=(200, 206, 416)) as response:
        if response.status_code == 416:
            part.unlink(missing_ok=True)
            raise BadAnswerError("the part that is here does not belong to the file")
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
                raise BadAnswerError("another range than the one asked for")
            origin = known
        else:
            origin = _told(response, url)
            note.write_text(json.dumps(asdict(origin)), encoding="utf-8")
        _write(client, response, part, origin, append=resumed)
    size = part.stat().st_size
    if origin.size is not None and size != origin.size:
        if size > origin.size:
            part.unlink()
        raise BadAnswerError(f"{size} bytes where {origin.size} were announced")
    return origin


def _known(part: Path, note: Path, url: str) -> _Origin | None:
    """What is known of the part, where it can be gone on with."""
    if not part.is_file() or not part.stat().st_size or not note.is_file():
        return None
    try:
        origin = _Origin(**json.loads(note.read_text(encoding="utf-8")))
    except (ValueError, TypeError):
        return None
    return origin if origin.url == url and origin.validator else None


def _told(response: requests.Response, url: str) -> _Origin:
    length = response.headers.get("Content-Length", "")
    return _Origin(
        url,
        response.headers.get("ETag", ""),
        response.headers.get("Last-Modified", ""),
        int(length) if length.isdecimal() else None,
    )


def _write(client: Client, response: requests.Response, part: Path, origin: _Origin, *, append: bool) -> None:
    """Write the body as it comes, without undoing a Content-Encoding: a .gz file must stay one."""
    told = client.clock.now()
    with part.open("ab" if append else "wb") as stream:
        for number, piece in enumerate(response.raw.stream(_CHUNK, decode_content=False)):
            if number == 0 and not append:
                client.refuse_page(piece[:HEAD_BYTES], origin.url)
            stream.write(piece)
            if client.clock.now() - told >= _TOLD_EVERY:
                told = client.clock.now()
                of = f" of {origin.size / 1e6:.0f}" if origin.size else ""
                client.tell(f"{part.name.removesuffix('.part')}: {stream.tell() / 1e6:.0f}{of} MB")


def _verify(path: Path, name: str) -> None:
    """Raises InputError for a web page, an empty file, or gzip that cannot be unpacked to its end."""
    with path.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
    title = page_title(head)
    if title:
        raise InputError(f"{path}: a {title} instead of data", "download the file by browser")
    if not head:
        raise InputError(f"{path}: empty", "fetch or copy the file again")
    if name.endswith(".gz") and not head.startswith(GZIP_MAGIC):
        raise InputError(f"{path}: not a gzip file, though {name} says so")
    if head.startswith(GZIP_MAGIC):
        with open_bytes(path) as unpacked:
            while unpacked.read(_CHUNK):
                pass


def _entry(name: str, origin: str, path: Path, last_modified: str) -> Entry:
    date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return Entry(name, origin, date, path.stat().st_size, digest(path), last_modified)
