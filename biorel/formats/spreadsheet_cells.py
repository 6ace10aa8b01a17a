"""Cells of a table that people open in a spreadsheet: none of them may become a formula there.

A text that begins like a formula gets an apostrophe before it, as does one that begins like a guarded one: so taking
the apostrophe off again gives back every text as it was.
"""

from __future__ import annotations

import re

# the full-width forms are formulas in spreadsheets set to Chinese or Japanese
_FORMULA = re.compile("'*[=+\\-@\uff1d\uff0b\uff0d\uff20]")


def guarded(text: str) -> str:
    """The text as a cell that no spreadsheet runs."""
    return f"'{text}" if _FORMULA.match(text) else text


def unguarded(cell: str) -> str:
    """The text of a cell that `guarded` made."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
