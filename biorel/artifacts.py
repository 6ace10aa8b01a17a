"""What a command leaves behind: a folder or a file that appears whole, or not at all.

A folder is written as `NAME.partial/` and renamed once its manifest is in it; a file is written as `NAME.partial`.
Both are written under the lock `NAME.lock`, so that two processes never write one output. The manifest records how
the folder was made: options, digests of the inputs, counts and exclusions by reason, versions.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

from biorel import __version__
from biorel.counts import Counts
from biorel.errors import ModelError, OutputError

MANIFEST = "manifest.json"
# options that say where and how fast an output is made, not what is in it
_WITHOUT_EFFECT = ("out", "force", "status", "device", "threads", "dry_run")


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """The result of a command. The command line prints it; a Python caller reads its fields.

    Attributes:
        label: what was made, such as "dataset" or "model".
        path: the folder or file that was written; None if the command wrote none.
        summary: lines that describe the result to a person.
        details: the same facts as values; each command documents its own names.
        bad_records: the first few records that could not be read, each as `file:line: reason`.
        bad_accepted: whether the caller accepts such records (`--skip-bad`).
        failed: whether the command found a fault that its exit status must show.
    """

    label: str
    path: Path | None = None
    summary: Sequence[str] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    bad_records: Sequence[str] = ()
    bad_accepted: bool = False
    failed: bool = False


@dataclass
class OutputFolder:
    """An output folder while a command fills it.

    Attributes:
        path: where to write; the final folder once it is whole.
        counts: the counts and examples for the manifest.
        notes: further entries of the manifest.
        resumed: whether the folder holds the work of an earlier run that was stopped.
    """

    path: Path
    counts: Counts = field(default_factory=Counts)
    notes: dict[str, Any] = field(default_factory=dict)
    resumed: bool = False


# ---- writing


@contextmanager
def folder(
    command: str, options: Mapping[str, Any], out: Path, *, force: bool = False, resume: str = ""
) -> Iterator[OutputFolder]:
    """Write an output folder. After an error the target is as it was before.

    Args:
        command: name of the command, for the manifest.
        options: options of the command, for the manifest.
        out: the folder to write; missing parents are created.
        force: replace the folder if it exists, at the moment when the new one is whole.
        resume: path, relative to the folder, of a file that marks work worth resuming. If `NAME.partial/` holds it,
            the partial folder is kept; otherwise the command starts from nothing.

    Raises:
        OutputError: the folder exists, cannot be written, or another process is writing it.
    """
    _check_folder(out, force)
    partial = out.with_name(out.name + ".partial")
    began = time.time()
    with ExitStack() as stack:
        with _as_output_error(partial):
            out.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(sole_writer(out))
            _finish_replacing(out)
            # another process may have finished it since the first check
            _check_folder(out, force)
            resumed = _holds(partial, resume)
            if partial.exists() and not resumed:
                shutil.rmtree(partial)
            partial.mkdir(exist_ok=True)
        output = OutputFolder(partial, resumed=resumed)
        try:
            with _as_output_error(partial):
                yield output
                output.counts.check_balance()
                write_json(partial / MANIFEST, _manifest(command, options, output, began))
                _move_into_place(partial, out)
        except BaseException:
            if not _holds(partial, resume):
                shutil.rmtree(partial, ignore_errors=True)
            raise
    output.path = out


@contextmanager
def whole_file(path: Path, *, force: bool = False) -> Iterator[Path]:
    """Yield a temporary path next to `path`. On success it is moved to `path`, on error it is removed.

    Args:
        force: replace the file if it exists.

    Raises:
        OutputError: the file exists, its folder cannot be written, a folder has its name, or another process is
            writing it.
    """
    if path.is_dir():
        raise OutputError(f"{path}: is a folder; the output is a file", "choose another --out")
    check_output(path, force=force)
    partial = path.with_name(path.name + ".partial")
    with ExitStack() as stack, _as_output_error(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        stack.enter_context(sole_writer(path))
        check_output(path, force=force)
        try:
            yield partial
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)


def check_output(out: Path, *, force: bool, inputs: Iterable[Path] = ()) -> None:
    """Apply the one rule of all commands for overwriting.

    An output that exists is replaced only with `--force`. A folder is replaced only if biorel wrote it, and an input
    never. `folder` and `whole_file` check this; a command also calls it directly if the check should precede long work.

    Raises:
        OutputError: the output must not be written.
    """
    if out.resolve() in {path.resolve() for path in inputs}:
        raise OutputError(f"{out}: is an input", "choose another --out")
    if out.exists() and not force:
        raise OutputError(f"{out}: exists already", "choose another --out, or replace it with --force")
    if out.is_dir() and not (out / MANIFEST).is_file():
        raise OutputError(f"{out}: not replaced, since biorel did not write this folder", "choose another --out")


def _check_folder(out: Path, force: bool) -> None:
    if out.is_file():
        raise OutputError(f"{out}: is a file; the output is a folder", "choose another --out")
    check_output(out, force=force)


def read_json_object(path: Path) -> dict[str, Any]:
    """Read the JSON object in a file of a dataset or model folder.

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
    """Write strict JSON (no NaN) with the keys in the given order."""
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def _holds(partial: Path, resume: str) -> bool:
    return bool(resume) and (partial / resume).is_file()


def _move_into_place(partial: Path, out: Path) -> None:
    """Rename a whole folder to its final name. At no moment is part of a folder visible under that name."""
    replaced = _replaced(out)
    if out.exists():
        out.rename(replaced)
    partial.rename(out)
    if replaced.exists():
        shutil.rmtree(replaced)


def _finish_replacing(out: Path) -> None:
    """Clean up after a kill within `_move_into_place`: restore the old folder, or remove it if the new one is there."""
    replaced = _replaced(out)
    if replaced.exists() and out.exists():
        shutil.rmtree(replaced)
    elif replaced.exists():
        replaced.rename(out)


def _replaced(out: Path) -> Path:
    return out.with_name(out.name + ".replaced")


@contextmanager
def _as_output_error(path: Path) -> Iterator[None]:
    """Turn an error of the file system (disk full, read-only) into an `OutputError`."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is None:
            reason = error.strerror or str(error)
        else:
            reason = f"{error.filename}: {error.strerror}"
        raise OutputError(f"{path}: cannot be written ({reason})", "check the space and the permissions") from error


# ---- manifests


def fingerprint(command: str, options: Mapping[str, Any]) -> str:
    """A digest of everything that an output depends on: command, version, options, and the content of every input."""
    content = {name: _content(value) for name, value in sorted(options.items()) if name not in _WITHOUT_EFFECT}
    return hashlib.sha256(json.dumps([command, __version__, content], sort_keys=True).encode()).hexdigest()


def plain(value: Any) -> Any:
    """An option's value as JSON can hold it: paths as text, tuples as lists."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    return value


def digest(path: Path) -> str:
    """SHA-256 of a file; of a folder its fingerprint if biorel wrote it, otherwise a digest of all its files."""
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


def _content(value: Any) -> Any:
    if isinstance(value, Path):
        return digest(value)
    if isinstance(value, tuple):
        return [_content(item) for item in value]
    if isinstance(value, str) and value.endswith(".toml"):
        return digest(Path(value))  # a relation schema of the user
    return value


def _manifest(command: str, options: Mapping[str, Any], output: OutputFolder, began: float) -> dict[str, Any]:
    flat = [item for value in options.values() for item in (value if isinstance(value, tuple) else (value,))]
    inputs = [item for item in flat if isinstance(item, Path) and item != options.get("out") and item.exists()]
    return {
        "command": command,
        "biorel": __version__,
        "fingerprint": fingerprint(command, options),
        "config": plain(options),
        "inputs": {str(path): digest(path) for path in inputs},
        "counts": output.counts.by_reason,
        "examples": output.counts.examples,
        **output.notes,
        "versions": {
            "python": platform.python_version(),
            **{package: version(package) for package in ("torch", "tokenizers", "pyarrow", "numpy")},
        },
        "began": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began)),
        "seconds": round(time.time() - began, 1),
    }


# ---- locks


@contextmanager
def sole_writer(out: Path) -> Iterator[None]:
    """Hold the lock of an output, the file `NAME.lock` next to it. The file is removed afterwards.

    Args:
        out: a file or folder, which need not exist; its parent must.

    Raises:
        OutputError: another process holds the lock.
        OSError: the lock file cannot be created.
    """
    path = out.with_name(out.name + ".lock")
    with _lock(path, out):
        try:
            yield
        finally:
            # removed while the lock is held: nobody else can lock a file that is about to vanish
            path.unlink(missing_ok=True)


def _lock(path: Path, out: Path) -> IO[bytes]:
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
        if _is_open_at(stream, path):
            return stream
        # the previous holder removed the file after we opened it and before we locked it
        stream.close()


def _is_open_at(stream: IO[bytes], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(stream.fileno()), path.stat())
    except FileNotFoundError:
        return False
