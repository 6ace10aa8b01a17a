"""One span that names several concepts: `renal and hepatic failure` into `renal failure` and `hepatic failure`."""

from __future__ import annotations

import re

_JOINT = re.compile(r"\s*,\s*(?:and|or|and/or)?\s+|\s+(?:and|or|and/or|as well as)\s+|\s*/\s*", re.IGNORECASE)
_MOST_SHARED = 2


def parts(text: str) -> tuple[tuple[str, ...], ...]:
    """The ways in which a span may be several names, the likeliest first; none for a span without a joint.

    The last words of the span may belong to each part (two at most), or its first word may, or the parts are
    names as they stand.
    """
    pieces = [piece for piece in _JOINT.split(text.strip()) if piece]
    if len(pieces) < 2:
        return ()
    last = pieces[-1].split()
    first = pieces[0].split()
    ways = [
        (*(f"{piece} {' '.join(last[-shared:])}" for piece in pieces[:-1]), pieces[-1])
        for shared in range(1, _MOST_SHARED + 1)
        if len(last) > shared
    ]
    if len(first) > 1:
        ways.append((pieces[0], *(f"{first[0]} {piece}" for piece in pieces[1:])))
    return (*ways, tuple(pieces))
