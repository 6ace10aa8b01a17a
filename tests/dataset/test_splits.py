"""Splits are by document and reproducible."""

import gzip
import hashlib
from collections import Counter
from pathlib import Path

import pytest

from biorel.counts import Counts
from biorel.dataset.splits import SPLITS, fold_splits, hash_split, read_ids, read_splits, sized_splits
from biorel.errors import InputError

IDS = [str(number) for number in range(20_000_000, 20_004_000)]


def test_d01_a_split_depends_on_the_document_id_alone() -> None:
    for doc_id in IDS[:50]:
        place = int.from_bytes(hashlib.sha256(doc_id.encode()).digest()[:8], "big") % 10_000 / 10_000
        expected = "test" if place < 0.2 else "dev" if place < 0.3 else "train"
        assert hash_split(doc_id, 0.1, 0.2) == expected


def test_the_shares_are_kept() -> None:
    counts = Counter(hash_split(doc_id, 0.1, 0.2) for doc_id in IDS)
    assert set(counts) == set(SPLITS)
    assert counts["test"] / len(IDS) == pytest.approx(0.2, abs=0.02)  # 3 deviations
    assert counts["dev"] / len(IDS) == pytest.approx(0.1, abs=0.015)


def test_a_share_of_zero_is_no_document_and_one_of_one_is_all() -> None:
    assert {hash_split(doc_id, 0.0, 0.0) for doc_id in IDS[:500]} == {"train"}
    assert {hash_split(doc_id, 0.0, 1.0) for doc_id in IDS[:500]} == {"test"}
    assert {hash_split(doc_id, 1.0, 0.0) for doc_id in IDS[:500]} == {"dev"}


def test_a_smaller_dev_share_takes_nothing_from_test() -> None:
    for doc_id in IDS[:500]:
        assert (hash_split(doc_id, 0.1, 0.2) == "test") == (hash_split(doc_id, 0.3, 0.2) == "test")


def test_sizes_are_exact_and_independent_of_the_order_of_ids() -> None:
    splits = sized_splits(IDS[:100], (70, 20, 10), seed=1)
    assert Counter(splits.values()) == {"train": 70, "dev": 20, "test": 10}
    assert sized_splits(list(reversed(IDS[:100])), (70, 20, 10), seed=1) == splits
    assert sized_splits(IDS[:100], (70, 20, 10), seed=2) != splits
    assert set(sized_splits(IDS[:3], (3, 0, 0), seed=1).values()) == {"train"}


@pytest.mark.parametrize("count", [99, 101])
def test_rejects_sizes_that_do_not_sum_to_the_corpus(count: int) -> None:
    with pytest.raises(InputError, match=rf"70 \+ 20 \+ 10 add up to 100 documents, but there are {count}"):
        sized_splits(IDS[:count], (70, 20, 10), seed=1)


@pytest.mark.parametrize(("documents", "folds"), [(100, 10), (47, 5), (4, 3), (3, 3)])
def test_d01_over_all_folds_a_document_is_in_test_once_and_in_dev_once(documents: int, folds: int) -> None:
    drawn = [fold_splits(IDS[:documents], folds, fold, seed=1) for fold in range(1, folds + 1)]
    for split in ("test", "dev"):
        found = Counter(doc_id for one in drawn for doc_id, place in one.items() if place == split)
        assert found == Counter(IDS[:documents])
    tests = [{doc_id for doc_id, split in one.items() if split == "test"} for one in drawn]
    devs = [{doc_id for doc_id, split in one.items() if split == "dev"} for one in drawn]
    assert devs == [*tests[1:], tests[0]]
    assert max(map(len, tests)) - min(map(len, tests)) <= 1
    assert all("train" in one.values() for one in drawn)


def test_a_fold_depends_on_the_seed_but_not_on_the_order_of_ids() -> None:
    drawn = fold_splits(IDS[:50], 5, 2, seed=1)
    assert fold_splits(sorted(IDS[:50], reverse=True), 5, 2, seed=1) == drawn
    assert fold_splits(IDS[:50], 5, 2, seed=2) != drawn
    with pytest.raises(InputError, match=r"--folds 5: too few documents \(4\)"):
        fold_splits(IDS[:4], 5, 1, seed=1)


def _write(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    return path


def test_a_list_of_splits_is_read(tmp_path: Path) -> None:
    path = _write(tmp_path / "splits.tsv", "1\ttrain\t230\n\n0012\tdev\n 3 \ttest \r\n1\ttrain\n")
    assert read_splits(path, Counts()) == {"1": "train", "0012": "dev", "3": "test"}


def test_reads_a_gzipped_list(tmp_path: Path) -> None:
    path = tmp_path / "splits.tsv.gz"
    path.write_bytes(gzip.compress(b"1\ttrain\n"))
    assert read_splits(path, Counts()) == {"1": "train"}


def test_d01_rejects_one_document_in_two_splits(tmp_path: Path) -> None:
    path = _write(tmp_path / "splits.tsv", "1\ttrain\n2\tdev\n1\ttest\n")
    with pytest.raises(InputError, match=r"splits\.tsv:3: 1 is in train and in test"):
        read_splits(path, Counts())


@pytest.mark.parametrize("row", ["1 train", "1\tvalidation", "1\tTrain", "1", "1\t"])
def test_the_error_of_a_row_without_a_split_names_the_line(tmp_path: Path, row: str) -> None:
    path = _write(tmp_path / "splits.tsv", f"2\ttrain\n{row}\n")
    with pytest.raises(InputError, match=r"splits\.tsv:2: no split"):
        read_splits(path, Counts())


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_rejects_a_list_without_rows(tmp_path: Path, content: str) -> None:
    with pytest.raises(InputError, match="no rows"):
        read_splits(_write(tmp_path / "splits.tsv", content), Counts())
    with pytest.raises(InputError, match="no such file"):
        read_splits(tmp_path / "none.tsv", Counts())


def test_ids_are_the_first_column_of_all_files(tmp_path: Path) -> None:
    first = _write(tmp_path / "a.txt", "# excluded\n1\n 2 \n\n3\tdev\t9\n")
    second = _write(tmp_path / "b.txt", "3\n0004\n")
    assert read_ids([first, second], Counts()) == {"1", "2", "3", "0004"}
    assert read_ids([], Counts()) == frozenset()
