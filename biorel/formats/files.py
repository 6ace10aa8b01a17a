"""Read text files, plain or gzip, as numbered lines. Every error message names the file and the line."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, cast

from biorel.counts import Counts, Reason
from biorel.errors import InputError

# half of a surrogate pair is not a character; a JSON escape such as `\ud83d` alone produces one
HALF_OF_PAIR = re.compile("[\ud800-\udfff]")
GZIP_MAGIC = b"\x1f\x8b"
HEAD_BYTES = 65536
# longer than any row, abstract or record; a file without line ends must not fill the memory
LONGEST_LINE = 2**24
LARGEST_JSON = 2**26  # characters; the question set SQuAD 2.0 has 42 million
MOST_VALUES = 4_000_000


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading. A gzip file is recognised by its first bytes, not by its name, and is decompressed.

    Raises:
        InputError: the file is missing, is a folder, cannot be read, or is a damaged or truncated gzip file.
    """
    if not path.exists():
        raise InputError(f"{path}: no such file", "check the path")
    if path.is_dir():
        raise InputError(f"{path}: this is a folder, but a file is needed", "name the file itself")
    try:
        with path.open("rb") as raw:
            packed = raw.read(len(GZIP_MAGIC)) == GZIP_MAGIC
            raw.seek(0)
            with cast("IO[bytes]", gzip.open(raw)) if packed else raw as stream:
                yield stream
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path}: damaged gzip file ({error})", "fetch or copy the file again") from error
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"{path}: cannot be read ({reason})", "check the permissions") from error


def read_head(path: Path, size: int = HEAD_BYTES) -> bytes:
    """The first bytes of a file, decompressed, without byte-order mark and leading white space.

    Raises:
        InputError: see `open_bytes`.
    """
    with open_bytes(path) as stream:
        return stream.read(size).removeprefix(codecs.BOM_UTF8).lstrip()


def byte_lines(stream: IO[bytes], path: Path, longest: int = LONGEST_LINE) -> Iterator[tuple[int, bytes]]:
    """Yield (line number from 1, line including its line end) for each line of an open file.

    Raises:
        InputError: a line has more than `longest` bytes.
    """
    for number, line in enumerate(iter(partial(stream.readline, longest + 1), b""), start=1):
        if len(line) > longest:
            raise InputError(
                f"{path}:{number}: the line is too long (more than {longest / 2**20:.0f} MiB)",
                "check that this is the right file",
            )
        yield number, line


def read_whole(path: Path, largest: int) -> bytes:
    """All bytes of a file, decompressed.

    Raises:
        InputError: see `open_bytes`; or the file has more than `largest` bytes.
    """
    with open_bytes(path) as stream:
        content = stream.read(largest + 1)
    if len(content) > largest:
        raise InputError(
            f"{path}: the file is too large (more than {largest / 2**20:.0f} MiB)", "check that this is the right file"
        )
    return content


def read_lines(path: Path, counts: Counts, longest: int = LONGEST_LINE) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, line without its line end) for each line of a UTF-8 file, plain or gzip.

    A byte-order mark is skipped. NUL bytes, which occur in the PubTator dump, are counted and become spaces, so that
    offsets do not change.

    Raises:
        InputError: see `open_bytes`; or the file is not UTF-8, or a line has more than `longest` bytes.
    """
    with open_bytes(path) as stream:
        # Lines are split as bytes: a carriage return or a Unicode line separator inside an abstract does not end a
        # line, and an invalid byte can be reported with its line.
        for number, line in byte_lines(stream, path, longest):
            try:
                encoding = "utf-8-sig" if number == 1 else "utf-8"
                content = line.removesuffix(b"\n").removesuffix(b"\r").decode(encoding)
            except UnicodeDecodeError as error:
                raise InputError(
                    f"{path}:{number}: not UTF-8 (byte 0x{error.object[error.start]:02x})",
                    "convert the file to UTF-8, for instance with iconv",
                ) from error
            if "\0" in content:
                counts.add(Reason.NUL_REPLACED, f"{path}:{number}")
                content = content.replace("\0", " ")
            yield number, content


def fits_in_memory(text: str) -> bool:
    """Whether a JSON text can be loaded in a few hundred MB. The estimate counts commas, including those in strings."""
    return len(text) <= LARGEST_JSON and sum(map(text.count, ",[{")) <= MOST_VALUES
