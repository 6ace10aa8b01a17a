"""Reads the services that biorel fetches files and records from, as listed in `resources/services.toml`."""

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
    """A bulk file of a service.

    Attributes:
        path: the path below the address of the service.
        name: the name of the saved file.
        optional: whether the file is fetched only if the user names it.
    """

    path: str
    name: str
    optional: bool = False


@dataclass(frozen=True)
class Service:
    """The address of a service and its rules for requests.

    Attributes:
        url: the base address, without a final slash.
        hosts: the only hosts that requests and redirects may go to, each with a port if the address includes a port.
        page: the address to open in a browser.
        by_hand: what the user can do if the service sends a web page instead of data.
        per_second, per_second_with_key: allowed requests per second.
        retry_statuses: HTTP statuses, in addition to the usual ones, after which the request is sent again.
    """

    name: str
    url: str
    hosts: frozenset[str]
    page: str = ""
    by_hand: str = ""
    per_second: float = 3.0
    per_second_with_key: float = 3.0
    retry_statuses: frozenset[int] = frozenset()
    files: tuple[ServiceFile, ...] = ()


def read_service(path: Path, name: str, url: str | None = None, environ: Mapping[str, str] = os.environ) -> Service:
    """Read one service from the file. `url` or the variable BIOREL_<NAME>_URL replaces the address in the file.

    Raises:
        ConfigError: the address is invalid.
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
        retry_statuses=frozenset(entry.get("retry_statuses", ())),
        files=tuple(_file(item) for item in entry.get("files", ())),
    )


def host_of(address: str) -> str:
    """The host of an http or https address, with the port if there is one.

    Raises:
        ConfigError: the address is invalid, contains a user, password or query, or uses http for a server
            that is not on this machine.
    """
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError as error:
        # an address with a user is not shown, as it may contain a password
        shown = "an address with a user" if "@" in address else address
        raise ConfigError(f"{shown}: not a valid address", "write it as https://host/path") from error
    if parts.username or parts.password or parts.query or parts.fragment:
        # only the host is shown, as the rest may contain a password or a key
        raise ConfigError(f"{parts.hostname}: the address must not contain a user, password, query or fragment")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"{address}: not an http or https address", "write it as https://host/path")
    if parts.scheme == "http" and parts.hostname not in _LOCAL:
        raise ConfigError(f"{address}: http is allowed only for a server on this machine", "use https")
    return parts.netloc.lower()


def _file(item: dict[str, Any]) -> ServiceFile:
    name = item.get("name") or item["path"].rpartition("/")[2]
    return ServiceFile(item["path"], name, bool(item.get("optional", False)))
