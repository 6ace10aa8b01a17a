"""Hand-made features of a pair: where, how often and how close together its entities are mentioned.

The BRAN paper has no such features. With a thousand abstracts and little computing time, the features replace what
longer training would learn. `FEATURES` lists their names in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log1p

from biorel.records import Example

FEATURES = (
    "log_token_distance",
    "log_head_mentions",
    "log_tail_mentions",
    "head_in_title",
    "tail_in_title",
    "log_shared_sentences",
    "log_sentence_distance",
    "head_mentioned_first",
    "log_entities_of_head_type",
    "log_entities_of_tail_type",
    "head_share_of_mentions_of_its_type",
    "tail_share_of_mentions_of_its_type",
    "head_most_mentioned_of_its_type",
    "tail_most_mentioned_of_its_type",
    "first_head_sentence",
    "first_tail_sentence",
    "last_head_sentence",
    "last_tail_sentence",
)


@dataclass(frozen=True, slots=True)
class Place:
    """The place of one mention: a half-open span of tokens or words, and the index of its sentence."""

    start: int
    end: int
    sentence: int


@dataclass(frozen=True, slots=True)
class MentionPlace(Place):
    """The place of a mention, counted in tokens, and whether the mention is in the title."""

    in_title: bool


def pair_features(
    heads: Sequence[MentionPlace],
    tails: Sequence[MentionPlace],
    head_type_counts: Sequence[int],
    tail_type_counts: Sequence[int],
    sentences: int,
) -> tuple[float, ...]:
    """The features of one pair, in the order of `FEATURES`, all between 0 and about 7.

    Distances are those of the closest two mentions. First and last sentences are given as a share of the document.

    Args:
        heads, tails: mentions of the two entities, at least one each.
        head_type_counts, tail_type_counts: the number of mentions of each entity of the head's (tail's) type in the
            document, including the entity itself.
        sentences: number of sentences of the document.
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
        log1p(len(head_type_counts)),
        log1p(len(tail_type_counts)),
        len(heads) / sum(head_type_counts),
        len(tails) / sum(tail_type_counts),
        float(len(heads) == max(head_type_counts)),
        float(len(tails) == max(tail_type_counts)),
        min(head.sentence for head in heads) / sentences,
        min(tail.sentence for tail in tails) / sentences,
        max(head.sentence for head in heads) / sentences,
        max(tail.sentence for tail in tails) / sentences,
    )


def gap(one: Place, other: Place) -> int:
    """Tokens or words between two places; 0 where they touch or overlap."""
    return max(one.start - other.end, other.start - one.end, 0)


def token_distances(example: Example) -> tuple[int, ...]:
    """[P] tokens between the closest mentions of each pair; 0 where they touch or overlap."""
    spans: dict[int, list[tuple[int, int]]] = {}
    for entity, start, end in zip(example.mention_entities, example.mention_starts, example.mention_ends, strict=True):
        spans.setdefault(entity, []).append((start, end))
    return tuple(
        min(
            max(head_start - tail_end, tail_start - head_end, 0)
            for head_start, head_end in spans[head]
            for tail_start, tail_end in spans[tail]
        )
        for head, tail in zip(example.pair_heads, example.pair_tails, strict=True)
    )
