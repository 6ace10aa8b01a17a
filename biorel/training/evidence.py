"""Which mention pairs carry a relation: the shares of the log-sum-exp (section 2.4), told in characters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import product

import numpy as np

from biorel.records import Evidence, Example
from biorel.text.sentences import sentence_span
from biorel.training.collate import entity_units


def relation_evidence(
    example: Example, head: int, tail: int, weights: Sequence[float] | np.ndarray, units: str, limit: int
) -> tuple[Evidence, ...]:
    """The mention pairs of one relation by descending weight, at most `limit`.

    Args:
        head, tail: the entities of the pair.
        weights: [N] the share of each link of the pair, in the collator's order: head units outside, tail
            units inside.
        units: `mentions` or `tokens`; the shares of the tokens of two mentions add up.
    """
    spans = entity_units(example, units)
    heads, tails = ([_mention(example, entity, unit) for unit in spans[entity]] for entity in (head, tail))
    shares: dict[tuple[tuple[int, int], tuple[int, int]], float] = defaultdict(float)
    for link, weight in zip(product(heads, tails), weights, strict=True):
        shares[link] += float(weight)
    strongest = sorted(shares.items(), key=lambda item: (-item[1], item[0]))[:limit]
    length = example.token_ends[-1] if example.token_ends else 0
    return tuple(
        Evidence(
            head=one,
            tail=other,
            weight=weight,
            sentence=sentence_span(example.sentence_starts, length, min(one[0], other[0]), max(one[1], other[1]) - 1),
        )
        for (one, other), weight in strongest
    )


def _mention(example: Example, entity: int, unit: tuple[int, int]) -> tuple[int, int]:
    """The character span of the first mention of the entity that holds the unit's tokens."""
    for owner, start, end, char_start, char_end in zip(
        example.mention_entities,
        example.mention_starts,
        example.mention_ends,
        example.mention_char_starts,
        example.mention_char_ends,
        strict=True,
    ):
        if owner == entity and start <= unit[0] and unit[1] <= end:
            return char_start, char_end
    raise ValueError(f"no mention of entity {entity} covers tokens {unit}")
