"""Zip archives unpacked with care: nothing is written outside the folder, and nothing grows without bound."""

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

MOST_BYTES = 4 * 2**30
MOST_FILES = 20_000
_CHUNK = 2**20
_DEEPEST = 2  # an archive in an archive, as ChemProt's is
_ENCRYPTED = 0x1
_DRIVE = re.compile(r"[A-Za-z]:")
# what zipfile and its decompressors raise at damaged bytes, by the module that finds the damage
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, ValueError, OverflowError, RuntimeError, IndexError, OSError),
)
_NO_PATH = frozenset({errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ})


def unpack(archive: Path, folder: Path, *, most_bytes: int = MOST_BYTES, most_files: int = MOST_FILES) -> list[Path]:
    """Unpack a zip archive, and archives inside it beside where they lie; returns the files, sorted.

    Raises:
        InputError: not a zip archive, a damaged one, or one with a path outside the folder, a link, a password, two
            files of one name, or more than is allowed in it. What was written is then incomplete.
    """
    written: list[Path] = []
    room = [most_bytes, most_files]
    _unpack(archive, folder, written, room, depth=1)
    return sorted(written)


def _unpack(archive: Path, folder: Path, written: list[Path], room: list[int], depth: int) -> None:
    with _damage_told(archive):
        opened = zipfile.ZipFile(archive)
    with opened:
        for member in opened.infolist():
            target = _target(archive, member, folder)
            if target is None:
                continue
            room[1] -= 1
            if room[1] < 0:
                raise InputError(f"{archive}: more files than are allowed", "unpack it by hand if you trust it")
            _write(archive, opened, member, target, room)
            if target.suffix.lower() == ".zip" and depth < _DEEPEST:
                _unpack(target, target.parent, written, room, depth + 1)
                target.unlink()
            else:
                written.append(target)


@contextmanager
def _damage_told(archive: Path) -> Iterator[None]:
    try:
        yield
    except _DAMAGE as error:
        raise InputError(f"{archive}: not a whole zip archive ({error})", "fetch it again") from error


def _target(archive: Path, member: zipfile.ZipInfo, folder: Path) -> Path | None:
    """Where a member goes; None for one that is no content (a folder, macOS's notes)."""
    name = member.filename
    path = PurePosixPath(name)
    if not path.parts:
        raise InputError(f"{archive}: holds a file without a name ({name!r})", "do not use this archive")
    if name.startswith("/") or "\\" in name or _DRIVE.match(name) or ".." in path.parts:
        raise InputError(f"{archive}: holds the path {name!r}, which leads outside", "do not use this archive")
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise InputError(f"{archive}: {name!r} is a link or a device", "do not use this archive")
    if member.is_dir() or "__MACOSX" in path.parts or path.name == ".DS_Store":
        return None
    if member.flag_bits & _ENCRYPTED:
        raise InputError(f"{archive}: {name!r} is encrypted", "unpack it by hand")
    return folder.joinpath(*path.parts)


def _write(archive: Path, opened: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, room: list[int]) -> None:
    """Write one member, counting what really comes out; what the archive says of sizes is not believed."""
    with _damage_told(archive):
        stream = opened.open(member)
    with stream, _created(archive, member, target) as out:
        while piece := _read(archive, stream):
            room[0] -= len(piece)
            if room[0] < 0:
                raise InputError(f"{archive}: more bytes than are allowed", "unpack it by hand if you trust it")
            out.write(piece)


def _read(archive: Path, stream: IO[bytes]) -> bytes:
    with _damage_told(archive):
        return stream.read(_CHUNK)


def _created(archive: Path, member: zipfile.ZipInfo, target: Path) -> IO[bytes]:
    """The member's file, newly made.

    Raises:
        InputError: there is one already, or no file system has such a path.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        return target.open("xb")
    except OSError as error:
        if error.errno not in _NO_PATH:
            raise
        reason = "two files" if error.errno == errno.EEXIST else "a path that cannot be:"
        raise InputError(f"{archive}: {reason} {member.filename[:80]!r}", "do not use this archive") from error
