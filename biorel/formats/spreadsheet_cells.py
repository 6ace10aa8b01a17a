"""Guard table cells, so that a spreadsheet does not run them as formulas.

An apostrophe is put before a text that begins like a formula. It is also put before a text that already looks guarded,
so that `unguarded` always restores the text.
"""

from __future__ import annotations

import re

# the full-width signs begin formulas in spreadsheets set to Chinese or Japanese
_FORMULA = re.compile("'*[=+\\-@\uff1d\uff0b\uff0d\uff20]")


def guarded(text: str) -> str:
    """The text as a cell that no spreadsheet takes for a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def unguarded(cell: str) -> str:
    """The text of a cell made by `guarded`."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
