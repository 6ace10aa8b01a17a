"""Tables of earlier versions: only columns that were added later may be missing."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from biorel.errors import InputError
from biorel.records import Example, Pair
from biorel.tables import read_table, write_table
from tests.builders import example, random_example, with_branches


def test_branches_survive_a_round_trip(tmp_path):
    written = [with_branches(random_example(1, 12), 1), example(tokens=[5, 6])]
    write_table(tmp_path / "examples.parquet", Example, written)
    assert [one.branch_tokens for one in read_table(tmp_path / "examples.parquet", Example)] == [
        one.branch_tokens for one in written
    ]


def test_older_examples_have_no_branches(tmp_path):
    path = tmp_path / "examples.parquet"
    write_table(path, Example, [with_branches(random_example(1, 12), 1)])
    pq.write_table(pq.read_table(path).drop_columns(["branch_tokens", "branch_anchors"]), path)
    (read,) = read_table(path, Example)
    assert (read.branch_tokens, read.branch_anchors) == ((), ())


def test_reads_columns_under_a_former_name(tmp_path):
    path = tmp_path / "pairs.parquet"
    written = [Pair("1", "MESH:D1", "Chemical", "MESH:D2", "Disease", (), "hypernym")]
    write_table(path, Pair, written)
    table = pq.read_table(path)
    names = ["drop" if name == "excluded_because" else name for name in table.column_names]
    pq.write_table(table.rename_columns(names), path)
    assert list(read_table(path, Pair)) == written


@pytest.mark.parametrize("missing", ["branch_tokens", "pair_lexical_features", "doc_id"])
def test_rejects_missing_columns(tmp_path, missing):
    path = tmp_path / "examples.parquet"
    write_table(path, Example, [random_example(1, 12)])
    pq.write_table(pq.read_table(path).drop_columns([missing]), path)
    with pytest.raises(InputError, match=r"columns .* were expected"):
        list(read_table(path, Example))
