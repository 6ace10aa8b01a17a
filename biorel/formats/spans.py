"""Spans as annotated against spans as they are: every import checks text[start:end] == mention.

Tools count offsets in UTF-8 bytes, in UTF-16 units, or on another edition of the text. A span that
does not show the text it names is never kept as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.records import Document, Mention

# characters, over all mentions of one document
_SEARCHED = 10**9
_QUOTED = 80
_OFFSET = re.compile(r"\d{1,18}")


def is_offset(word: str) -> bool:
    """Whether a word of a file is a whole number that may count characters."""
    return _OFFSET.fullmatch(word) is not None


def check_spans(document: Document, mentions: Sequence[Mention], counts: Counts, place: str) -> tuple[Mention, ...]:
    """The mentions whose spans hold, repaired where that is certain; the others are dropped and booked.

    Repairs, in this order, for a document with any mismatch: offsets counted in UTF-8 bytes, then in
    UTF-16 units, where every mention matches after conversion; a mention whose text occurs exactly once; a
    normalised text (PubTator3 writes `TNF-a` for `TNF-α`) of the same length as its span and alike but for
    letters outside ASCII, case and kinds of blank, whose text is then the document's.
    """
    text = document.text
    if all(_holds(text, mention) for mention in mentions):
        return tuple(mentions)
    for reason, encoding in ((Reason.SPAN_REPAIRED_UTF8, "utf-8"), (Reason.SPAN_REPAIRED_UTF16, "utf-16-le")):
        converted = _converted(text, mentions, encoding)
        if all(mention is not None and _holds(text, mention) for mention in converted):
            counts.add(reason, place, len(mentions))
            return tuple(mention for mention in converted if mention is not None)
    room = _SEARCHED
    kept: list[Mention | None] = []
    for mention in mentions:
        if _holds(text, mention):
            kept.append(mention)
        elif room > 0:
            kept.append(_anchored(text, mention, counts, place))
            room -= len(text)
        else:
            # a document with ever so many misplaced mentions must not be searched for ever
            counts.add(Reason.MENTION_NOT_SEARCHED, place)
    return tuple(mention for mention in kept if mention is not None)


def without_repeats(mentions: Iterable[Mention], counts: Counts, place: str) -> tuple[Mention, ...]:
    """The mentions in their order, each once; a repeat is dropped and booked."""
    kept: dict[Mention, None] = {}
    for mention in mentions:
        if mention in kept:
            counts.add(Reason.MENTION_REPEATED, f"{place} {mention.start}-{mention.end}")
        kept[mention] = None
    if kept:
        counts.add(Reason.MENTIONS_KEPT, count=len(kept))
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
    # a slice that ends beyond the text is cut without a word
    inside = 0 <= mention.start < mention.end <= len(text)
    return inside and text[mention.start : mention.end] == mention.text


def _anchored(text: str, mention: Mention, counts: Counts, place: str) -> Mention | None:
    """A misplaced mention where it belongs, where that is certain."""
    where = f"{place} {mention.start}-{mention.end} {mention.text[:_QUOTED]!r}"
    start = text.find(mention.text) if mention.text else -1
    if start >= 0 and text.find(mention.text, start + len(mention.text)) < 0:
        counts.add(Reason.SPAN_REPAIRED_UNIQUE_TEXT, where)
        return replace(mention, start=start, end=start + len(mention.text))
    shown = text[mention.start : mention.end] if 0 <= mention.start < mention.end <= len(text) else ""
    # on another edition of the text the lengths agree too, so what the span shows must be alike
    if shown and start < 0 and _normalised(shown, mention.text):
        counts.add(Reason.SPAN_TEXT_NORMALISED, where)
        return replace(mention, text=shown)
    counts.add(Reason.MENTION_SPAN_MISMATCH, where)
    return None


def _normalised(shown: str, text: str) -> bool:
    """Whether the text may be what a source made of what the document shows, character by character."""
    return len(shown) == len(text) and all(
        ours.lower() == theirs.lower()
        or not (ours.isascii() and theirs.isascii())
        or (ours.isspace() and theirs.isspace())
        for ours, theirs in zip(shown, text, strict=True)
    )


def _converted(text: str, mentions: Sequence[Mention], encoding: str) -> list[Mention | None]:
    """The mentions with offsets in code points, where they count in units of the encoding; None for one that is no
    border of a character.

    Only what lies between two offsets is decoded, so that a long text is gone over once.
    """
    content, width = text.encode(encoding, "surrogatepass"), len("a".encode(encoding))
    wanted = sorted({offset for mention in mentions for offset in (mention.start, mention.end)})
    offsets: dict[int, int] = {}
    unit = position = 0
    for offset in wanted:
        place = offset * width
        if 0 <= place <= len(content) and _is_border(content, place, width):
            position += len(content[unit:place].decode(encoding, "surrogatepass"))
            unit = place
            offsets[offset] = position
    return [
        replace(mention, start=offsets[mention.start], end=offsets[mention.end])
        if mention.start in offsets and mention.end in offsets
        else None
        for mention in mentions
    ]


def _is_border(content: bytes, place: int, width: int) -> bool:
    """Whether a character begins at this byte, or the content ends, and not a later unit of one."""
    if place == len(content):
        return True
    return content[place] & 0xC0 != 0x80 if width == 1 else content[place + 1] & 0xFC != 0xDC
