"""The gold corpora and the places where their authors publish them, as `resources/corpora.toml` lists them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biorel.fetch.services import Service, host_of


@dataclass(frozen=True)
class CorpusFile:
    """One file: where it is, the best place first, the name it is saved by, and whether it is an archive."""

    urls: tuple[str, ...]
    name: str
    sha256: str
    unpack: bool


@dataclass(frozen=True)
class Corpus:
    """A corpus.

    Attributes:
        page: where its authors describe it.
        licence, citation: as its authors state them.
        use: command lines that read it, with {out} for the folder that it lies in.
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
    """The corpus's places as a service to ask; at `url`, where that is given, all its files lie by their names.

    Raises:
        ConfigError: the address is none.
    """
    addresses = [url] if url else [address for file in corpus.files for address in file.urls]
    by_hand = (
        f"save the files by browser from {corpus.page} into a folder, then: "
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
