"""Safe unpacking of zip archives: nothing is written outside the folder, and size and number of files are limited."""

from __future__ import annotations

import errno
import lzma
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from biorel.errors import InputError

MAX_BYTES = 4 * 2**30
MAX_FILES = 20_000
_CHUNK = 2**20
_MAX_DEPTH = 2  # an archive in an archive, as in ChemProt
_ENCRYPTED = 0x1
_DRIVE = re.compile(r"[A-Za-z]:")
# exceptions that zipfile and its decompressors raise for damaged archives
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, ValueError, OverflowError, RuntimeError, IndexError, OSError),
)
_NO_PATH = frozenset({errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ})


def unpack(archive: Path, folder: Path, *, max_bytes: int = MAX_BYTES, max_files: int = MAX_FILES) -> list[Path]:
    """Unpack a zip archive and the archives in it; returns the files, sorted.

    An inner archive is unpacked into its own folder and removed.

    Raises:
        InputError: the file is not a zip archive or is damaged, or it contains a path outside the folder, a link, a
            password, two files with the same name, or more files or bytes than allowed. The folder is then incomplete.
    """
    written: list[Path] = []
    left = [max_bytes, max_files]
    _unpack(archive, folder, written, left, depth=1)
    return sorted(written)


def _unpack(archive: Path, folder: Path, written: list[Path], left: list[int], depth: int) -> None:
    with _report_damage(archive):
        opened = zipfile.ZipFile(archive)
    with opened:
        for member in opened.infolist():
            target = _target(archive, member, folder)
            if target is None:
                continue
            left[1] -= 1
            if left[1] < 0:
                raise InputError(
                    f"{archive}: contains more files than allowed", "unpack the archive by hand if you trust it"
                )
            _write(archive, opened, member, target, left)
            if target.suffix.lower() == ".zip" and depth < _MAX_DEPTH:
                _unpack(target, target.parent, written, left, depth + 1)
                target.unlink()
            else:
                written.append(target)


@contextmanager
def _report_damage(archive: Path) -> Iterator[None]:
    try:
        yield
    except _DAMAGE as error:
        raise InputError(f"{archive}: damaged or not a zip archive ({error})", "fetch it again") from error


def _target(archive: Path, member: zipfile.ZipInfo, folder: Path) -> Path | None:
    """The path for a member; None for a folder or a metadata file of macOS."""
    name = member.filename
    path = PurePosixPath(name)
    if not path.parts:
        raise InputError(f"{archive}: contains a file without a name ({name!r})", "do not use this archive")
    if name.startswith("/") or "\\" in name or _DRIVE.match(name) or ".." in path.parts:
        raise InputError(
            f"{archive}: contains the path {name!r}, which leads outside the folder", "do not use this archive"
        )
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise InputError(f"{archive}: {name!r} is a link or a device, not an ordinary file", "do not use this archive")
    if member.is_dir() or "__MACOSX" in path.parts or path.name == ".DS_Store":
        return None
    if member.flag_bits & _ENCRYPTED:
        raise InputError(f"{archive}: {name!r} is encrypted", "unpack the archive by hand")
    return folder.joinpath(*path.parts)


def _write(archive: Path, opened: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, left: list[int]) -> None:
    """Write one member. The limit applies to the bytes actually written, as the sizes in the archive may be wrong."""
    with _report_damage(archive):
        stream = opened.open(member)
    with stream, _created(archive, member, target) as out:
        while chunk := _read(archive, stream):
            left[0] -= len(chunk)
            if left[0] < 0:
                raise InputError(
                    f"{archive}: contains more bytes than allowed", "unpack the archive by hand if you trust it"
                )
            out.write(chunk)


def _read(archive: Path, stream: IO[bytes]) -> bytes:
    with _report_damage(archive):
        return stream.read(_CHUNK)


def _created(archive: Path, member: zipfile.ZipInfo, target: Path) -> IO[bytes]:
    """A new file for the member.

    Raises:
        InputError: the file exists already, or the path is not valid on this file system.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        return target.open("xb")
    except OSError as error:
        if error.errno not in _NO_PATH:
            raise
        reason = "two files named" if error.errno == errno.EEXIST else "an invalid path:"
        raise InputError(f"{archive}: contains {reason} {member.filename[:80]!r}", "do not use this archive") from error
