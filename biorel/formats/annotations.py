"""Convert mentions to the annotations of a file: one row per span, in which several concept ids are joined by `|`."""

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
        start, end, text, type: the fields of `Mention` with the same names.
        identifier: the concept ids as the file writes them, joined by `|`.
        entity_ids: the same concept ids as `Mention` writes them.
    """

    start: int
    end: int
    text: str
    type: str
    identifier: str
    entity_ids: tuple[str | None, ...]


def join_mentions(mentions: Iterable[Mention], spell: Callable[[str, str], str]) -> Iterator[Annotation]:
    """Join the mentions of a document that share span and type, in order of first occurrence.

    Ids are joined only if they can be separated again. The ids of mutations contain `|`, so each of them gets a row.

    Args:
        spell: a function of entity id and type that returns the id as the file writes it. Unlinked mentions get `-`.
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
