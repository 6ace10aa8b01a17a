"""Paths of the files that come with biorel: inside the package in a wheel, next to it in a checkout."""

from __future__ import annotations

from pathlib import Path

from biorel.errors import InputError

_PACKAGE = Path(__file__).resolve().parent


def resource(*parts: str) -> Path:
    """The path of a file or folder under resources/.

    Raises:
        InputError: this installation does not contain it.
    """
    for root in (_PACKAGE / "_resources", _PACKAGE.parent / "resources"):
        path = root.joinpath(*parts)
        if path.exists():
            return path
    raise InputError(f"resources/{'/'.join(parts)}: not part of this installation", "install biorel again")


def shipped_pipeline(*parts: str) -> Path | None:
    """The path of a shipped pipeline, or None: `pipelines/cdr.toml` works outside a checkout too."""
    for folder in (_PACKAGE / "_pipelines", _PACKAGE.parent / "pipelines"):
        if (path := folder.joinpath(*parts)).is_file():
            return path
    return None
