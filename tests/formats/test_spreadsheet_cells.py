"""Guarding cells that a spreadsheet would evaluate."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from biorel.formats.spreadsheet_cells import guarded, unguarded

STARTS = "=+-@＝＋－＠"


@given(st.text() | st.text("'=+-@x＝", max_size=6))
@example("'=1")
@example("''=1")
@example("'tis")
def test_guarded_texts_are_restored_and_are_not_formulas(text):
    cell = guarded(text)
    assert unguarded(cell) == text
    assert not cell.startswith(tuple(STARTS))


@pytest.mark.parametrize("text", ["", "drug", "(+)-drug", "2-drug", "'tis", "x = 1", " =1"])
def test_leaves_other_texts_unchanged(text):
    assert guarded(text) == text
