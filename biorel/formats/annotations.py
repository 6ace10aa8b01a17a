"""Mentions as the annotations of a file: one row a span, the ids of a composite mention joined by `|`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from biorel.formats.identifiers import concept_ids
from biorel.records import Mention

UNLINKED = "-"


@dataclass(frozen=True, slots=True)
class Annotation:
    """A span with its concepts.

    Attributes:
        start, end, text, type: of the mentions.
        identifier: the concepts as the file spells them, joined by `|`.
        entity_ids: the same concepts as records have them.
    """

    start: int
    end: int
    text: str
    type: str
    identifier: str
    entity_ids: tuple[str | None, ...]


def join_mentions(mentions: Iterable[Mention], spell: Callable[[str, str], str]) -> Iterator[Annotation]:
    """The mentions of a document by span and type, in the order in which these come first.

    Concepts are joined only where a reader takes them apart again: the ids of a mutation hold a `|` themselves
    and get a row each.

    Args:
        mentions: of one document.
        spell: (entity id, type) -> the id as the file spells it; an unlinked mention is `-`.
    """
    spans: dict[tuple[int, int, str, str], dict[str | None, None]] = {}
    for mention in mentions:
        span = (mention.start, mention.end, mention.text, mention.type)
        spans.setdefault(span, {})[mention.entity_id] = None
    for (start, end, text, type_), found in spans.items():
        ids = tuple(found)
        spelled = [UNLINKED if id_ is None else spell(id_, type_) for id_ in ids]
        joined = "|".join(spelled)
        if concept_ids(joined, type_) == ids:
            yield Annotation(start, end, text, type_, joined, ids)
        else:
            for id_, identifier in zip(ids, spelled, strict=True):
                yield Annotation(start, end, text, type_, identifier, (id_,))
