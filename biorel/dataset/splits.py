"""Which split a document belongs to. Splits are by document, before anything else is cut."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from biorel.errors import InputError
from biorel.ledger import Ledger
from biorel.sources.files import read_lines

SPLITS = ("train", "dev", "test")
_BUCKETS = 10_000


def hash_split(doc_id: str, dev_share: float, test_share: float) -> str:
    """A split that depends on the document id alone: stable over runs, machines and growing corpora."""
    digest = hashlib.sha256(doc_id.encode("utf-8")).digest()
    place = int.from_bytes(digest[:8], "big") % _BUCKETS / _BUCKETS
    if place < test_share:
        return "test"
    return "dev" if place < test_share + dev_share else "train"


def read_splits(path: Path, ledger: Ledger) -> dict[str, str]:
    """Read `doc_id<TAB>split` rows (further columns are ignored; the BRAN authors' list has the length).

    Raises:
        InputError: a split that is not train, dev or test; one document in two splits; no row.
    """
    splits: dict[str, str] = {}
    for number, line in read_lines(path, ledger):
        if not line.strip():
            continue
        fields = line.split("\t")
        if len(fields) < 2 or fields[1].strip() not in SPLITS:
            raise InputError(f"{path}:{number}: no split in {line[:40]!r}", "rows are: id, a tab, train, dev or test")
        doc_id, split = fields[0].strip(), fields[1].strip()
        if splits.setdefault(doc_id, split) != split:
            raise InputError(f"{path}:{number}: {doc_id} is in {splits[doc_id]} and in {split}")
    if not splits:
        raise InputError(f"{path}: no rows", "rows are: id, a tab, train, dev or test")
    return splits


def read_ids(paths: Sequence[Path], ledger: Ledger) -> frozenset[str]:
    """Document ids, one a line (the first column where there are several); `#` begins a comment."""
    return frozenset(
        line.split("\t")[0].strip()
        for path in paths
        for _, line in read_lines(path, ledger)
        if line.strip() and not line.startswith("#")
    )
