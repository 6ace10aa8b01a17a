"""Which split a document belongs to. Splits are by document, before anything else is cut."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from biorel.counts import Counts
from biorel.errors import InputError
from biorel.formats.files import read_lines

SPLITS = ("train", "dev", "test")
_BUCKETS = 10_000


def hash_split(doc_id: str, dev_share: float, test_share: float) -> str:
    """A split that depends on the document id alone: stable over runs, machines and growing corpora."""
    digest = hashlib.sha256(doc_id.encode("utf-8")).digest()
    place = int.from_bytes(digest[:8], "big") % _BUCKETS / _BUCKETS
    if place < test_share:
        return "test"
    return "dev" if place < test_share + dev_share else "train"


def sized_splits(doc_ids: Iterable[str], sizes: tuple[int, int, int], seed: int) -> dict[str, str]:
    """Splits of exactly these sizes (train, dev, test), drawn by seed; the order of the ids has no bearing on it.

    Raises:
        InputError: the sizes do not sum to the number of documents.
    """
    order = drawn_order(doc_ids, seed)
    if len(order) != sum(sizes):
        asked = " + ".join(map(str, sizes))
        raise InputError(f"--split-sizes {asked} are {sum(sizes)} documents; there are {len(order)}")
    split_of_place = [split for split, size in zip(SPLITS, sizes, strict=True) for _ in range(size)]
    return dict(zip(order, split_of_place, strict=True))


def fold_splits(doc_ids: Iterable[str], folds: int, fold: int, seed: int) -> dict[str, str]:
    """One fold of a cross-validation by document: test is fold `fold` of 1 to `folds`, dev the next, train the rest.

    Folds differ by one document at most; every document is in test once and in dev once over all folds, and the
    order of the ids has no bearing on which.

    Raises:
        InputError: fewer documents than folds.
    """
    order = drawn_order(doc_ids, seed)
    if len(order) < folds:
        raise InputError(f"--folds {folds}: there are {len(order)} documents", "a fold holds one at least")
    of_fold = {fold - 1: "test", fold % folds: "dev"}
    return {doc_id: of_fold.get(place % folds, "train") for place, doc_id in enumerate(order)}


def drawn_order(doc_ids: Iterable[str], seed: int) -> list[str]:
    """The documents as a hash of seed and id orders them."""
    return sorted(set(doc_ids), key=lambda doc_id: hashlib.sha256(f"{seed}:{doc_id}".encode()).digest())


def read_splits(path: Path, counts: Counts) -> dict[str, str]:
    """Read `doc_id<TAB>split` rows (further columns are ignored; the BRAN authors' list has the length).

    Raises:
        InputError: a split that is not train, dev or test; one document in two splits; no row.
    """
    splits: dict[str, str] = {}
    for number, line in read_lines(path, counts):
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


def read_ids(paths: Sequence[Path], counts: Counts) -> frozenset[str]:
    """Document ids, one a line (the first column where there are several); `#` begins a comment."""
    return frozenset(
        line.split("\t")[0].strip()
        for path in paths
        for _, line in read_lines(path, counts)
        if line.strip() and not line.startswith("#")
    )
