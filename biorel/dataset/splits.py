"""Assigning documents to train, dev and test. Whole documents are assigned, before any of them is cut."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from biorel.counts import Counts
from biorel.errors import InputError
from biorel.formats.files import read_lines
from biorel.records import Document, Pair
from biorel.tables import read_table

SPLITS = ("train", "dev", "test")
_BUCKETS = 10_000
_ROWS = "each row should be: id, tab, and train, dev or test"


@dataclass(frozen=True)
class SplitRule:
    """How documents are assigned: by a file, by a draw of exact sizes or of folds, otherwise by a hash of the id.

    Attributes:
        file: rows of id, tab, split; see `read_splits`.
        sizes: number of documents of train, dev and test; see `sized_splits`.
        folds, fold: number of folds, and the fold, from 1, that is the test set; see `fold_splits`.
        seed: the seed of the draw.
        dev_share, test_share: see `hash_split`.
    """

    file: Path | None = None
    sizes: tuple[int, int, int] | None = None
    folds: int = 0
    fold: int = 0
    seed: int = 1
    dev_share: float = 0.1
    test_share: float = 0.1

    @property
    def is_drawn(self) -> bool:
        """Whether the split of a document depends on which other documents there are."""
        return self.file is None and (self.sizes is not None or self.folds > 0)

    def draw(self, doc_ids: Iterable[str]) -> dict[str, str]:
        """The split of each of these documents, for a rule that is drawn."""
        if self.sizes is not None:
            return sized_splits(doc_ids, self.sizes, self.seed)
        return fold_splits(doc_ids, self.folds, self.fold, self.seed)

    def assigner(self, counts: Counts) -> Callable[[str], str]:
        """A function from a document id to its split, for a rule that is not drawn; empty for an id not in the file.

        Raises:
            InputError: see `read_splits`.
        """
        if self.file is not None:
            listed = read_splits(self.file, counts)
            return lambda doc_id: listed.get(doc_id, "")
        return lambda doc_id: hash_split(doc_id, self.dev_share, self.test_share)


def hash_split(doc_id: str, dev_share: float, test_share: float) -> str:
    """The split given by the document id alone, so that it does not change between runs or as a corpus grows."""
    digest = hashlib.sha256(doc_id.encode("utf-8")).digest()
    position = int.from_bytes(digest[:8], "big") % _BUCKETS / _BUCKETS
    if position < test_share:
        return "test"
    return "dev" if position < test_share + dev_share else "train"


def sized_splits(doc_ids: Iterable[str], sizes: tuple[int, int, int], seed: int) -> dict[str, str]:
    """Draw splits of exactly these sizes (train, dev, test). The result does not depend on the order of the ids.

    Raises:
        InputError: the sizes do not sum to the number of documents.
    """
    order = drawn_order(doc_ids, seed)
    if len(order) != sum(sizes):
        requested = " + ".join(map(str, sizes))
        raise InputError(f"--split-sizes {requested} add up to {sum(sizes)} documents, but there are {len(order)}")
    split_of_position = [split for split, size in zip(SPLITS, sizes, strict=True) for _ in range(size)]
    return dict(zip(order, split_of_position, strict=True))


def fold_splits(doc_ids: Iterable[str], folds: int, fold: int, seed: int) -> dict[str, str]:
    """Draw one fold of a cross-validation: fold `fold` of 1 to `folds` is test, the next one dev, the others train.

    Fold sizes differ by one document at most. Over all folds, every document is once in test and once in dev. The
    result does not depend on the order of the ids.

    Raises:
        InputError: there are fewer documents than folds.
    """
    order = drawn_order(doc_ids, seed)
    if len(order) < folds:
        raise InputError(f"--folds {folds}: too few documents ({len(order)})", "each fold needs at least one document")
    split_of_fold = {fold - 1: "test", fold % folds: "dev"}
    return {doc_id: split_of_fold.get(position % folds, "train") for position, doc_id in enumerate(order)}


def drawn_order(doc_ids: Iterable[str], seed: int) -> list[str]:
    """The distinct documents in the order of a hash of seed and id."""
    return sorted(set(doc_ids), key=lambda doc_id: hashlib.sha256(f"{seed}:{doc_id}".encode()).digest())


def read_splits(path: Path, counts: Counts) -> dict[str, str]:
    """Read rows of `doc_id<TAB>split`. Further columns are ignored (the BRAN authors' list has the text's length).

    Raises:
        InputError: a split is not train, dev or test; a document has two splits; there is no row.
    """
    splits: dict[str, str] = {}
    for number, line in read_lines(path, counts):
        if not line.strip():
            continue
        fields = line.split("\t")
        if len(fields) < 2 or fields[1].strip() not in SPLITS:
            raise InputError(f"{path}:{number}: no split in {line[:40]!r}", _ROWS)
        doc_id, split = fields[0].strip(), fields[1].strip()
        if splits.setdefault(doc_id, split) != split:
            raise InputError(f"{path}:{number}: {doc_id} is in {splits[doc_id]} and in {split}")
    if not splits:
        raise InputError(f"{path}: no rows", _ROWS)
    return splits


def read_ids(paths: Sequence[Path], counts: Counts) -> frozenset[str]:
    """Read document ids, one a line; further columns and lines that begin with `#` are ignored."""
    return frozenset(
        line.split("\t")[0].strip()
        for path in paths
        for _, line in read_lines(path, counts)
        if line.strip() and not line.startswith("#")
    )


def articles_of(dataset: Path, split: str) -> set[str]:
    """The ids of all documents of a split, including those above the token limit.

    Args:
        dataset: the folder of the dataset.
        split: train, dev or test.

    Raises:
        InputError: the dataset is incomplete.
    """
    articles = {document.doc_id for document in read_table(dataset / split / "documents.parquet", Document)}
    return articles | {pair.doc_id for pair in read_table(dataset / split / "pairs.parquet", Pair)}
