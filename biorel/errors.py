"""The errors that biorel reports to its users: one line, a hint, an exit status.

Every error that a user can cause, such as a bad file, a wrong flag or a model folder that does not fit, is a
`BiorelError`. The command line prints it without a traceback. Any other exception is a bug in biorel.
"""

from __future__ import annotations

from typing import ClassVar


class BiorelError(Exception):
    """An error that the user can correct.

    Attributes:
        message: the problem, with file and line number if there is one.
        hint: how to correct it; may be empty.
        exit_code: exit status of the command line.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ConfigError(BiorelError):
    """The flags or the TOML file are not valid options."""

    exit_code = 2


class InputError(BiorelError):
    """A file is missing, empty, unreadable or not in the expected format."""

    exit_code = 3


class ModelError(BiorelError):
    """A model folder is incomplete or does not fit the data."""

    exit_code = 4


class OutputError(BiorelError):
    """An output exists already, cannot be written, or is being written by another process."""

    exit_code = 5


class FetchError(BiorelError):
    """A service does not answer, returns something other than data, or does not have the requested item."""

    exit_code = 6
