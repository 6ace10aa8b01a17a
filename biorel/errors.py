"""What can go wrong, told to a person: one line, a hint, an exit code.

Everything that a user can cause (a bad file, a wrong flag, a model folder that
does not fit) is raised as a `BiorelError`; the command line prints it without a
traceback. Anything else that escapes is a fault of biorel.
"""

from __future__ import annotations

from typing import ClassVar


class BiorelError(Exception):
    """A fault with a remedy.

    Attributes:
        message: what is wrong, with file and line number where there is one.
        hint: what the user can do about it; may be empty.
        exit_code: the status that the command line ends with.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ConfigError(BiorelError):
    """Flags or a TOML file that do not make a valid configuration."""

    exit_code = 2


class InputError(BiorelError):
    """A file that is missing, empty, unreadable or not in the format it should be in."""

    exit_code = 3


class ModelError(BiorelError):
    """A model folder that is incomplete or does not fit the data."""

    exit_code = 4


class OutputError(BiorelError):
    """An output that exists already, is being written by another process, or cannot be written."""

    exit_code = 5


class FetchError(BiorelError):
    """A service that does not answer, answers with what is no data, or lacks what was asked for."""

    exit_code = 6
