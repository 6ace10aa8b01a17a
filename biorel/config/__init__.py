"""The options of the commands: one frozen model per command, in a file named after the command.

A field is an option: its name is the flag's name, its description the help text.
"""

from __future__ import annotations

from biorel.config.base import Config, load

__all__ = ["Config", "load"]
