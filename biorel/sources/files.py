"""Text files, plain or gzip, as numbered lines; every fault names the file and the line."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from biorel.errors import InputError
from biorel.ledger import Ledger

GZIP_MAGIC = b"\x1f\x8b"


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading, unpacked where it is gzip (by its first bytes, not by its name).

    Raises:
        InputError: the file is missing, a folder, unreadable, or its gzip stream is damaged or cut short.
    """
    if not path.exists():
        raise InputError(f"{path}: no such file", "check the path")
    if path.is_dir():
        raise InputError(f"{path}: a folder where a file was expected", "name the file itself")
    try:
        with path.open("rb") as raw:
            packed = raw.read(len(GZIP_MAGIC)) == GZIP_MAGIC
            raw.seek(0)
            with cast("IO[bytes]", gzip.open(raw)) if packed else raw as stream:
                yield stream
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path}: damaged gzip file ({error})", "fetch or copy the file again") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})", "check the permissions") from error


def read_lines(path: Path, ledger: Ledger) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, line without its end) of a UTF-8 file, plain or gzip.

    A byte-order mark is skipped. NUL bytes, which the PubTator dump holds now and then, become
    spaces so that offsets stay, and are booked.

    Raises:
        InputError: as `open_bytes`, or the bytes are not UTF-8.
    """
    with open_bytes(path) as stream:
        # newline="\n": a lone carriage return or a Unicode line separator inside an abstract is no line end
        text = io.TextIOWrapper(io.BufferedReader(cast("io.RawIOBase", stream)), encoding="utf-8-sig", newline="\n")
        number = 0
        try:
            for number, line in enumerate(text, start=1):  # noqa: B007
                content = line.removesuffix("\n").removesuffix("\r")
                if "\0" in content:
                    ledger.add("NUL byte replaced", f"{path}:{number}")
                    content = content.replace("\0", " ")
                yield number, content
        except UnicodeDecodeError as error:
            raise InputError(
                f"{path}:{number + 1}: not UTF-8 (byte 0x{error.object[error.start]:02x})",
                "convert the file to UTF-8, for instance with iconv",
            ) from error
