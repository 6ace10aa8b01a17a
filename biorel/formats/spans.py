"""Check annotated spans, so that text[start:end] is the text of the mention in every document that is read.

Some tools count offsets in UTF-8 bytes or UTF-16 units, or annotate another edition of the text. A span that does not
show the text of its mention is repaired or dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.records import Document, Mention

# limit of characters searched, over all mentions of one document
_SEARCHED = 10**9
_QUOTED = 80
_OFFSET = re.compile(r"\d{1,18}")


def is_offset(word: str) -> bool:
    """Whether a field of a file is a whole number that can be an offset."""
    return _OFFSET.fullmatch(word) is not None


def check_spans(document: Document, mentions: Sequence[Mention], counts: Counts, place: str) -> tuple[Mention, ...]:
    """The mentions whose spans are right or can be repaired without doubt. The others are dropped and counted.

    Repairs are tried in this order if any mention of the document does not match:

    1. Offsets counted in UTF-8 bytes, then in UTF-16 units, if every mention matches after the conversion.
    2. The place of the mention's text, if the text occurs exactly once.
    3. The text of the document at the span, if the source normalised it (PubTator3 writes `TNF-a` for `TNF-α`): both
       texts have the same length and differ only in non-ASCII letters, case and kinds of blank.
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
            kept.append(_relocated(text, mention, counts, place))
            room -= len(text)
        else:
            # bounds the time that a document with many misplaced mentions takes
            counts.add(Reason.MENTION_NOT_SEARCHED, place)
    return tuple(mention for mention in kept if mention is not None)


def without_repeats(mentions: Iterable[Mention], counts: Counts, place: str) -> tuple[Mention, ...]:
    """The distinct mentions in order. Repeated mentions are dropped and counted."""
    kept: dict[Mention, None] = {}
    for mention in mentions:
        if mention in kept:
            counts.add(Reason.MENTION_REPEATED, f"{place} {mention.start}-{mention.end}")
        kept[mention] = None
    if kept:
        counts.add(Reason.MENTIONS_KEPT, count=len(kept))
    return tuple(kept)


def refuse_all_lost(path: Path, annotations: int, mentions: int) -> None:
    """Refuse a file whose annotations were all dropped.

    Raises:
        InputError: the file has annotations, and none could be imported.
    """
    if annotations and not mentions:
        raise InputError(
            f"{path}: none of the {annotations} annotations could be imported",
            "the offsets do not fit the text; check that this edition of the text was annotated",
        )


def _holds(text: str, mention: Mention) -> bool:
    # the bounds are checked because a slice beyond the end of the text is cut silently
    inside = 0 <= mention.start < mention.end <= len(text)
    return inside and text[mention.start : mention.end] == mention.text


def _relocated(text: str, mention: Mention, counts: Counts, place: str) -> Mention | None:
    """The misplaced mention with its span or text repaired, or None if no repair is certain."""
    where = f"{place} {mention.start}-{mention.end} {mention.text[:_QUOTED]!r}"
    start = text.find(mention.text) if mention.text else -1
    if start >= 0 and text.find(mention.text, start + len(mention.text)) < 0:
        counts.add(Reason.SPAN_REPAIRED_UNIQUE_TEXT, where)
        return replace(mention, start=start, end=start + len(mention.text))
    shown = text[mention.start : mention.end] if 0 <= mention.start < mention.end <= len(text) else ""
    # in another edition of the text the lengths may agree by chance, so the characters are compared, too
    if shown and start < 0 and _normalised(shown, mention.text):
        counts.add(Reason.SPAN_TEXT_NORMALISED, where)
        return replace(mention, text=shown)
    counts.add(Reason.MENTION_SPAN_MISMATCH, where)
    return None


def _normalised(shown: str, text: str) -> bool:
    """Whether a source may have normalised the characters `shown` to `text`."""
    return len(shown) == len(text) and all(
        ours.lower() == theirs.lower()
        or not (ours.isascii() and theirs.isascii())
        or (ours.isspace() and theirs.isspace())
        for ours, theirs in zip(shown, text, strict=True)
    )


def _converted(text: str, mentions: Sequence[Mention], encoding: str) -> list[Mention | None]:
    """Convert offsets from units of the encoding to code points; None for an offset inside a character.

    Only the text between two offsets is decoded at a time, so a long text is decoded once.
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
    """Whether a character begins, or the content ends, at this byte."""
    if place == len(content):
        return True
    return content[place] & 0xC0 != 0x80 if width == 1 else content[place + 1] & 0xFC != 0xDC
