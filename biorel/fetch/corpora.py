"""Reads the gold corpora, and the addresses where their authors publish them, from `resources/corpora.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biorel.fetch.services import Service, host_of


@dataclass(frozen=True)
class CorpusFile:
    """One file of a corpus.

    Attributes:
        urls: the addresses of the file, in the order in which they are tried.
        name: the name of the saved file.
        sha256: the SHA-256 of the file; empty if not known.
        unpack: whether the file is an archive to unpack.
    """

    urls: tuple[str, ...]
    name: str
    sha256: str
    unpack: bool


@dataclass(frozen=True)
class Corpus:
    """A gold corpus.

    Attributes:
        page: the address of the authors' description.
        licence, citation: as stated by the authors.
        use: command lines that read the corpus, with {out} for its folder.
    """

    name: str
    title: str
    page: str
    licence: str
    citation: str
    files: tuple[CorpusFile, ...]
    use: tuple[str, ...]


def read_corpora(path: Path) -> dict[str, Corpus]:
    """All corpora of the file, by name."""
    content: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: _corpus(name, entry) for name, entry in content.items()}


def corpus_service(corpus: Corpus, url: str | None = None) -> Service:
    """The hosts of a corpus as a service to fetch from.

    Args:
        corpus: the corpus.
        url: the address of a mirror that has all files under the same names.

    Raises:
        ConfigError: the address is invalid.
    """
    addresses = [url] if url else [address for file in corpus.files for address in file.urls]
    by_hand = (
        f"save the files with a browser from {corpus.page} into a folder, then: "
        f"biorel fetch corpus {corpus.name} --from FOLDER --out DATA"
    )
    return Service(
        name=corpus.name,
        url=(url or corpus.page).rstrip("/"),
        hosts=frozenset(host_of(address) for address in addresses),
        page=corpus.page,
        by_hand=by_hand,
        per_second=1.0,
        per_second_with_key=1.0,
    )


def _corpus(name: str, entry: dict[str, Any]) -> Corpus:
    files = tuple(
        CorpusFile(
            urls=tuple(item["urls"]),
            name=item.get("name") or item["urls"][0].rpartition("/")[2],
            sha256=item.get("sha256", ""),
            unpack=bool(item.get("unpack", False)),
        )
        for item in entry["files"]
    )
    texts = {field: " ".join(entry[field].split()) for field in ("title", "page", "licence", "citation")}
    return Corpus(name=name, files=files, use=tuple(entry.get("use", ())), **texts)
