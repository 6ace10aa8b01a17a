"""One writer at a time: an output is written under a lock on a file beside it.

It is a POSIX record lock: the kernel drops it when the process that took it dies, however it dies, and a worker process
that outlives its parent does not hold it on. A lock file that a kill left behind is taken over.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from biorel.errors import OutputError

_SUFFIX = ".lock"


@contextmanager
def sole_writer(out: Path) -> Iterator[None]:
    """Hold the lock of an output, `NAME.lock` beside it, for the time of the block; the file is gone afterwards.

    Args:
        out: a file or a folder, there or not; its parent is there.

    Raises:
        OutputError: another process holds it.
        OSError: the lock file cannot be made.
    """
    path = out.with_name(out.name + _SUFFIX)
    with _taken(path, out):
        try:
            yield
        finally:
            # while it is still held, so that nobody locks a file that is about to go
            path.unlink(missing_ok=True)


def _taken(path: Path, out: Path) -> IO[bytes]:
    while True:
        stream = path.open("ab")
        try:
            fcntl.lockf(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            stream.close()
            if isinstance(error, BlockingIOError | PermissionError):
                raise OutputError(
                    f"{out}: another process is writing it", "wait for it, or choose another --out"
                ) from error
            raise
        if _is_at(stream, path):
            return stream
        # its last holder removed it between the opening and the locking
        stream.close()


def _is_at(stream: IO[bytes], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(stream.fileno()), path.stat())
    except FileNotFoundError:
        return False
