"""The base class of all options, and how flags and a TOML file are combined and checked.

A flag takes precedence over the same option in a `--config` file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from biorel.errors import ConfigError

C = TypeVar("C", bound="Config")

OUT = Field(description="folder to write; it appears only when it is complete")
FORCE = Field(False, description="replace the output if it exists; without it, an existing output is an error")
DEVICE = Field("auto", description="auto, cpu, cuda or cuda:N", pattern=r"^(auto|cpu|cuda(:\d+)?)$")
THREADS = Field(0, ge=0, description="number of CPU threads; 0 lets PyTorch choose")
BATCH_TOKENS = Field(16_000, ge=1, description="padded tokens of a batch when scoring")


class Config(BaseModel):
    """The options of one command.

    Attributes:
        example: a command line that runs on the shipped sample; `--help` shows it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())

    example: ClassVar[str] = ""

    def options(self) -> dict[str, Any]:
        """The options by the names that the command line and TOML files use."""
        return self.model_dump(by_alias=True)

    def changed_options(self, *left_out: str) -> dict[str, Any]:
        """The options whose values are not the defaults, for a README.

        Args:
            left_out: names of options to leave out.
        """
        fields = type(self).model_fields
        return {name: value for name, value in self if name not in left_out and value != fields[name].default}


def load(kind: type[C], flags: Mapping[str, Any], file: Path | None = None) -> C:
    """Build a command's configuration from a TOML file and flags.

    Raises:
        ConfigError: the options are invalid; the message lists every fault.
    """
    values: dict[str, Any] = {}
    if file is not None:
        try:
            values.update(tomllib.loads(file.read_text(encoding="utf-8-sig")))
        except OSError as error:
            raise ConfigError(f"{file}: {error.strerror or error}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ConfigError(f"{file}: not TOML ({error})") from error
    values.update(flags)
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        faults = "; ".join(_fault(fault) for fault in error.errors())
        raise ConfigError(faults, "see --help for what each option takes") from error


def _fault(fault: Any) -> str:
    name = ".".join(str(part) for part in fault["loc"])
    message = str(fault["msg"]).removeprefix("Value error, ")
    return f"--{name.replace('_', '-')}: {message}" if name else message
