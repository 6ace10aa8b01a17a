"""The fuzzer in short: some cases of each reader. By hand: `python -m tests.fuzz.run`."""

from __future__ import annotations

import pytest

from tests.fuzz.readers import READERS
from tests.fuzz.run import fuzz


@pytest.mark.parametrize("name", READERS)
def test_a_reader_ends_in_records_or_in_one_line(name, tmp_path):
    row = fuzz(name, cases=60, seed=0, large=5_000, folder=tmp_path)
    assert row["faults"] == []
    assert 0 < row["refused"] < row["cases"]
