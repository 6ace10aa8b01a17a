"""The services that files and records are fetched from, as `resources/services.toml` lists them."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from biorel.errors import ConfigError

_LOCAL = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class ServiceFile:
    """A bulk file of a service: its path below the address, the name it is saved by, the columns it must have.

    An optional one is fetched only where the user names it.
    """

    path: str
    name: str
    columns: tuple[str, ...] = ()
    optional: bool = False


@dataclass(frozen=True)
class Service:
    """Where a service is and how it wants to be asked.

    Attributes:
        url: the base address, without a slash at its end.
        hosts: the only hosts (with port, where the address has one) that requests and redirects may go to.
        page: what a person opens in a browser.
        by_hand: what to do where it sends a page instead of data.
        per_second, per_second_with_key: requests a second.
        again: HTTP statuses that are worth another try with this service, beside the usual ones.
    """

    name: str
    url: str
    hosts: frozenset[str]
    page: str = ""
    by_hand: str = ""
    per_second: float = 3.0
    per_second_with_key: float = 3.0
    again: frozenset[int] = frozenset()
    files: tuple[ServiceFile, ...] = ()


def read_service(path: Path, name: str, url: str | None = None, environ: Mapping[str, str] = os.environ) -> Service:
    """A service of the file, at another address where `url` or BIOREL_<NAME>_URL gives one.

    Raises:
        ConfigError: the address is none.
    """
    entry: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))[name]
    variable = f"BIOREL_{name.upper()}_URL"
    address = url or environ.get(variable, "").strip() or entry["url"]
    per_second = float(entry["per_second"])
    return Service(
        name=name,
        url=address.rstrip("/"),
        hosts=frozenset({host_of(address)}),
        page=entry["page"],
        by_hand=" ".join(entry["by_hand"].split()),
        per_second=per_second,
        per_second_with_key=float(entry.get("per_second_with_key", per_second)),
        again=frozenset(entry.get("again", ())),
        files=tuple(_file(item) for item in entry.get("files", ())),
    )


def host_of(address: str) -> str:
    """The host of an http or https address, with its port where it has one.

    Raises:
        ConfigError: no such address, one with a user, password or query in it, or one that is neither https nor of
            this machine.
    """
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError as error:
        # not repeated where there may be a password in it
        shown = "an address with a user" if "@" in address else address
        raise ConfigError(f"{shown}: cannot be read", "write it as https://host/path") from error
    if parts.username or parts.password or parts.query or parts.fragment:
        # it is not repeated, as there may be a password or a key in it
        raise ConfigError(f"{parts.hostname}: an address has no user, password, query or fragment here")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"{address}: not an http or https address", "write it as https://host/path")
    if parts.scheme == "http" and parts.hostname not in _LOCAL:
        raise ConfigError(f"{address}: http is for a server on this machine only", "use https")
    return parts.netloc.lower()


def _file(item: dict[str, Any]) -> ServiceFile:
    name = item.get("name") or item["path"].rpartition("/")[2]
    return ServiceFile(item["path"], name, tuple(item.get("columns", ())), bool(item.get("optional", False)))
