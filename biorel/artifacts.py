"""What a command leaves behind: a folder or a file that appears whole, or not at all.

A folder is written as `NAME.partial/`, under the lock `NAME.lock`, and renamed when its manifest is in it. The manifest
tells how it came to be: configuration, digests of the inputs, counts and drops by reason, versions.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

from biorel import __version__
from biorel.config import Config
from biorel.counts import Counts
from biorel.errors import ModelError, OutputError

MANIFEST = "manifest.json"
_UNPRINTED = ("out", "force", "status", "device", "threads", "dry_run")


@dataclass
class Artifact:
    """An output folder in the making.

    Attributes:
        path: where to write; the final folder once it is whole.
        counts: goes into the manifest as counts.
        notes: further entries of the manifest.
        resumed: a killed run left its work in the folder.
    """

    path: Path
    counts: Counts = field(default_factory=Counts)
    notes: dict[str, Any] = field(default_factory=dict)
    resumed: bool = False


@contextmanager
def folder(command: str, config: Config, out: Path, *, force: bool = False, resume: str = "") -> Iterator[Artifact]:
    """Write an output folder; on any error the target is untouched.

    Args:
        command, config: go into the manifest.
        out: the folder; its parents are made.
        force: a folder that exists is replaced, in the moment when the new one is whole.
        resume: a file of the folder that a killed or failed run can go on from: where `NAME.partial/` holds it, all
            is kept, else the command begins anew.

    Raises:
        OutputError: the folder exists, cannot be written, or another process is writing it.
    """
    _refuse(out, force)
    partial = out.with_name(out.name + ".partial")
    began = time.time()
    with ExitStack() as held:
        with _told(partial):
            out.parent.mkdir(parents=True, exist_ok=True)
            held.enter_context(sole_writer(out))
            _undo_replacing(out)
            # another process may have finished it since
            _refuse(out, force)
            resumed = _has(partial, resume)
            if partial.exists() and not resumed:
                shutil.rmtree(partial)
            partial.mkdir(exist_ok=True)
        artifact = Artifact(partial, resumed=resumed)
        try:
            with _told(partial):
                yield artifact
                write_json(partial / MANIFEST, _manifest(command, config, artifact, began))
                _put(partial, out)
        except BaseException:
            if not _has(partial, resume):
                shutil.rmtree(partial, ignore_errors=True)
            raise
    artifact.path = out


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a place beside `path` to write to; on success it is moved there, on error it is removed.

    Raises:
        OutputError: the folder cannot be written, a folder is in the way, or another process is writing the file.
    """
    if path.is_dir():
        raise OutputError(f"{path}: is a folder, and a file is to be written", "choose another --out")
    partial = path.with_name(path.name + ".partial")
    with ExitStack() as held, _told(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        held.enter_context(sole_writer(path))
        try:
            yield partial
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)


def read_json_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file of a dataset or model folder.

    Raises:
        ModelError: the file cannot be read or does not hold a JSON object.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror or error}", "the folder is incomplete") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ModelError(f"{path}: not JSON ({error})") from error
    if not isinstance(content, dict):
        raise ModelError(f"{path}: not a JSON object")
    return content


def write_json(path: Path, content: Any) -> None:
    """Write strict JSON (no NaN), keys in the order given."""
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def fingerprint(command: str, config: Config) -> str:
    """What the output depends on: command, version, parameters, and the content of every input."""
    values = config.model_dump(by_alias=True)
    content = {name: _content(value) for name, value in sorted(values.items()) if name not in _UNPRINTED}
    return hashlib.sha256(json.dumps([command, __version__, content], sort_keys=True).encode()).hexdigest()


def _content(value: Any) -> Any:
    if isinstance(value, Path):
        return digest(value)
    if isinstance(value, tuple):
        return [_content(item) for item in value]
    if isinstance(value, str) and value.endswith(".toml"):
        return digest(Path(value))  # a relation schema of the user's own
    return value


def digest(path: Path) -> str:
    """SHA-256 of a file, of a biorel folder (by its fingerprint), or of all files of another folder."""
    if path.is_dir():
        manifest = path / MANIFEST
        if manifest.is_file():
            return str(json.loads(manifest.read_text(encoding="utf-8")).get("fingerprint", ""))
        names = sorted(item for item in path.rglob("*") if item.is_file())
        joined = "".join(f"{name.relative_to(path)}:{digest(name)}" for name in names)
        return hashlib.sha256(joined.encode()).hexdigest()
    if not path.is_file():
        return "missing"
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _manifest(command: str, config: Config, artifact: Artifact, began: float) -> dict[str, Any]:
    values = config.model_dump(by_alias=True)
    flat = [item for value in values.values() for item in (value if isinstance(value, tuple) else (value,))]
    inputs = [item for item in flat if isinstance(item, Path) and item != values.get("out") and item.exists()]
    return {
        "command": command,
        "biorel": __version__,
        "fingerprint": fingerprint(command, config),
        "config": config.model_dump(mode="json", by_alias=True),
        "inputs": {str(path): digest(path) for path in inputs},
        "counts": artifact.counts.by_reason,
        "examples": artifact.counts.examples,
        **artifact.notes,
        "versions": {
            "python": platform.python_version(),
            **{package: version(package) for package in ("torch", "tokenizers", "pyarrow", "numpy")},
        },
        "began": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began)),
        "seconds": round(time.time() - began, 1),
    }


def _has(partial: Path, checkpoint: str) -> bool:
    return bool(checkpoint) and (partial / checkpoint).is_file()


def _refuse(out: Path, force: bool) -> None:
    """Raises OutputError for a folder that must not be written to."""
    if out.exists() and not force:
        raise OutputError(f"{out}: exists already", "choose another --out, or say --force to replace it")
    if out.exists() and not (out / MANIFEST).is_file():
        raise OutputError(f"{out}: is not a folder that biorel wrote; it is not replaced", "choose another --out")


def _put(partial: Path, out: Path) -> None:
    """Put a whole folder in its place. At no moment is there a part of a folder under its name."""
    replaced = _replaced(out)
    if out.exists():
        out.rename(replaced)
    partial.rename(out)
    if replaced.exists():
        shutil.rmtree(replaced)


def _undo_replacing(out: Path) -> None:
    """Tidy what a kill within `_put` left: the folder that was to be replaced stands again, or is gone for good."""
    replaced = _replaced(out)
    if replaced.exists() and out.exists():
        shutil.rmtree(replaced)
    elif replaced.exists():
        replaced.rename(out)


def _replaced(out: Path) -> Path:
    return out.with_name(out.name + ".replaced")


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turn the faults of a file system (full, read-only) into one line."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is None:
            reason = error.strerror or str(error)
        else:
            reason = f"{error.filename}: {error.strerror}"
        raise OutputError(f"{path}: cannot be written ({reason})", "check the space and the permissions") from error


# MERGED from locks: One writer at a time: an output is written under a lock on a file beside it.
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
