"""Finds what biorel ships, in a wheel (inside the package) and in a checkout (beside it)."""

from __future__ import annotations

from pathlib import Path

from biorel.errors import InputError

_PACKAGE = Path(__file__).resolve().parent


def resource(*parts: str) -> Path:
    """The path of a shipped file or folder under resources/.

    Raises:
        InputError: this installation does not hold it.
    """
    for root in (_PACKAGE / "_resources", _PACKAGE.parent / "resources"):
        path = root.joinpath(*parts)
        if path.exists():
            return path
    raise InputError(f"resources/{'/'.join(parts)}: not part of this installation", "install biorel again")


def shipped_pipeline(*parts: str) -> Path | None:
    """The path of a pipeline that biorel ships, so that `pipelines/cdr.toml` works outside a checkout, too."""
    for folder in (_PACKAGE / "_pipelines", _PACKAGE.parent / "pipelines"):
        if (path := folder.joinpath(*parts)).is_file():
            return path
    return None
