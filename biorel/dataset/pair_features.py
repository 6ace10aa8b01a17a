"""Hand-made features of a pair: where, how often and how near its entities are mentioned.

BRAN has none; on two CPU cores and a thousand abstracts they stand for what a longer training would
find. `FEATURES` names them in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log1p

FEATURES = (
    "log token distance of the closest mentions",
    "log mentions of the head",
    "log mentions of the tail",
    "head in the title",
    "tail in the title",
    "log sentences that mention both",
    "log sentence distance of the closest mentions",
    "head mentioned first",
    "log entities of the head's type",
    "log entities of the tail's type",
    "head's share of the mentions of its type",
    "tail's share of the mentions of its type",
    "no entity of its type is mentioned more often than the head",
    "no entity of its type is mentioned more often than the tail",
    "head's first sentence, as a share of the text",
    "tail's first sentence, as a share of the text",
    "head's last sentence, as a share of the text",
    "tail's last sentence, as a share of the text",
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where one mention stands: a half-open span of tokens or words, and the number of its sentence."""

    start: int
    end: int
    sentence: int


@dataclass(frozen=True, slots=True)
class MentionPlace(Place):
    """A place among tokens, and whether it is in the title."""

    in_title: bool


def pair_features(
    heads: Sequence[MentionPlace],
    tails: Sequence[MentionPlace],
    head_rivals: Sequence[int],
    tail_rivals: Sequence[int],
    sentences: int,
) -> tuple[float, ...]:
    """The features of one pair, in the order of `FEATURES`, all between 0 and about 7.

    Args:
        heads, tails: mentions of the two entities, at least one each.
        head_rivals, tail_rivals: mentions of each entity of the head's (tail's) type in the
            document, the entity itself included.
        sentences: of the document.
    """
    token_distance = min(gap(head, tail) for head in heads for tail in tails)
    sentence_distance = min(abs(head.sentence - tail.sentence) for head in heads for tail in tails)
    shared = {head.sentence for head in heads} & {tail.sentence for tail in tails}
    return (
        log1p(token_distance),
        log1p(len(heads)),
        log1p(len(tails)),
        float(any(head.in_title for head in heads)),
        float(any(tail.in_title for tail in tails)),
        log1p(len(shared)),
        log1p(sentence_distance),
        float(min(head.start for head in heads) < min(tail.start for tail in tails)),
        log1p(len(head_rivals)),
        log1p(len(tail_rivals)),
        len(heads) / sum(head_rivals),
        len(tails) / sum(tail_rivals),
        float(len(heads) == max(head_rivals)),
        float(len(tails) == max(tail_rivals)),
        min(head.sentence for head in heads) / sentences,
        min(tail.sentence for tail in tails) / sentences,
        max(head.sentence for head in heads) / sentences,
        max(tail.sentence for tail in tails) / sentences,
    )


def gap(one: Place, other: Place) -> int:
    """Tokens, or words, between two spans; 0 where they touch or overlap."""
    return max(one.start - other.end, other.start - one.end, 0)
