"""Spans as annotated against spans as they are: every import checks text[start:end] == mention.

Tools count offsets in UTF-8 bytes, in UTF-16 units, or on another edition of the text. A span that
does not show the text it names is never kept as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from biorel.errors import InputError
from biorel.ledger import Ledger
from biorel.records import Document, Mention


def check_spans(document: Document, mentions: Sequence[Mention], ledger: Ledger, place: str) -> tuple[Mention, ...]:
    """The mentions whose spans hold, repaired where that is certain; the others are dropped and booked.

    Repairs, in this order, for a document with any mismatch: offsets counted in UTF-8 bytes, then in
    UTF-16 units, where every mention matches after conversion; a mention whose text occurs exactly once; a
    normalised text (PubTator3 writes `TNF-a` for `TNF-α`) of the same length as its span and alike but for
    letters outside ASCII, case and kinds of blank, whose text is then the document's.
    """
    text = document.text
    if all(_holds(text, mention) for mention in mentions):
        return tuple(mentions)
    for unit, offsets in (("UTF-8 bytes", _byte_offsets(text)), ("UTF-16 units", _utf16_offsets(text))):
        converted = [_converted(mention, offsets) for mention in mentions]
        if all(mention is not None and _holds(text, mention) for mention in converted):
            ledger.add(f"span repaired: offsets in {unit}", place, len(mentions))
            return tuple(mention for mention in converted if mention is not None)
    kept = (_anchored(text, mention, ledger, place) for mention in mentions)
    return tuple(mention for mention in kept if mention is not None)


def without_repeats(mentions: Iterable[Mention], ledger: Ledger, place: str) -> tuple[Mention, ...]:
    """The mentions in their order, each once; a repeat is dropped and booked."""
    kept: dict[Mention, None] = {}
    for mention in mentions:
        if mention in kept:
            ledger.add("mention dropped: repeated", f"{place} {mention.start}-{mention.end}")
        kept[mention] = None
    return tuple(kept)


def refuse_all_lost(path: Path, annotations: int, mentions: int) -> None:
    """Raises:
    InputError: a file has annotations and not one of them could be imported.
    """
    if annotations and not mentions:
        raise InputError(
            f"{path}: {annotations} annotations, and none could be imported",
            "the offsets do not fit the text; was the file annotated on another edition of it?",
        )


def _holds(text: str, mention: Mention) -> bool:
    return 0 <= mention.start < mention.end and text[mention.start : mention.end] == mention.text


def _anchored(text: str, mention: Mention, ledger: Ledger, place: str) -> Mention | None:
    if _holds(text, mention):
        return mention
    where = f"{place} {mention.start}-{mention.end} {mention.text!r}"
    if mention.text and text.count(mention.text) == 1:
        start = text.index(mention.text)
        ledger.add("span repaired: its text occurs once", where)
        return replace(mention, start=start, end=start + len(mention.text))
    shown = text[mention.start : mention.end] if 0 <= mention.start < mention.end <= len(text) else ""
    # on another edition of the text the lengths agree too, so what the span shows must be alike
    if shown and mention.text not in text and _normalised(shown, mention.text):
        ledger.add("span kept: text was normalised by the source", where)
        return replace(mention, text=shown)
    ledger.add("mention dropped: span does not show its text", where)
    return None


def _normalised(shown: str, text: str) -> bool:
    """Whether the text may be what a source made of what the document shows, character by character."""
    return len(shown) == len(text) and all(
        ours.lower() == theirs.lower()
        or not (ours.isascii() and theirs.isascii())
        or (ours.isspace() and theirs.isspace())
        for ours, theirs in zip(shown, text, strict=True)
    )


def _converted(mention: Mention, offsets: dict[int, int]) -> Mention | None:
    start, end = offsets.get(mention.start), offsets.get(mention.end)
    if start is None or end is None:
        return None
    return replace(mention, start=start, end=end)


def _byte_offsets(text: str) -> dict[int, int]:
    return _unit_offsets(text, lambda character: len(character.encode("utf-8", "surrogatepass")))


def _utf16_offsets(text: str) -> dict[int, int]:
    return _unit_offsets(text, lambda character: 2 if ord(character) > 0xFFFF else 1)


def _unit_offsets(text: str, width: Callable[[str], int]) -> dict[int, int]:
    """From an offset in units to the offset in code points, at every border of a code point."""
    offsets, unit = {0: 0}, 0
    for position, character in enumerate(text, start=1):
        unit += width(character)
        offsets[unit] = position
    return offsets
