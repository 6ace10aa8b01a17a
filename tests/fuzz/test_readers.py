"""A brief run of the fuzzer of `tools/fuzz`: some cases for each reader."""

from __future__ import annotations

import pytest

from tools.fuzz.readers import READERS
from tools.fuzz.run import fuzz


@pytest.mark.parametrize("name", READERS)
def test_a_reader_returns_records_or_raises_a_one_line_error(name, tmp_path):
    row = fuzz(name, cases=60, seed=0, large=5_000, folder=tmp_path)
    assert row["faults"] == []
    assert 0 < row["refused"] < row["cases"]
