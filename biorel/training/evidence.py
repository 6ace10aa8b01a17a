"""Find the mention pairs that support a relation, weighted by their shares of the log-sum-exp (section 2.4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import product

import numpy as np

from biorel.records import Evidence, Example
from biorel.text.sentences import sentence_span
from biorel.training.collate import Span, entity_spans


def relation_evidence(
    example: Example, head: int, tail: int, weights: Sequence[float] | np.ndarray, span_pooling: str, limit: int
) -> tuple[Evidence, ...]:
    """The mention pairs of one relation by descending weight, at most `limit` of them.

    Args:
        head, tail: the entities of the pair.
        weights: [M], the weights of the entity pair's mention pairs, in the order of the collator: by head span, then
            by tail span.
        span_pooling: `mentions` or `tokens`; with `tokens` the weights of all token pairs of two mentions are summed.
    """
    spans = entity_spans(example, span_pooling)
    heads, tails = ([_mention_of(example, entity, span) for span in spans[entity]] for entity in (head, tail))
    shares: dict[tuple[Span, Span], float] = defaultdict(float)
    for mention_pair, weight in zip(product(heads, tails), weights, strict=True):
        shares[mention_pair] += float(weight)
    strongest = sorted(shares.items(), key=lambda item: (-item[1], item[0]))[:limit]
    length = example.token_ends[-1] if example.token_ends else 0
    return tuple(
        Evidence(
            head=head_chars,
            tail=tail_chars,
            weight=weight,
            sentence=sentence_span(
                example.sentence_starts,
                length,
                min(head_chars[0], tail_chars[0]),
                max(head_chars[1], tail_chars[1]) - 1,
            ),
        )
        for (head_chars, tail_chars), weight in strongest
    )


def _mention_of(example: Example, entity: int, span: Span) -> Span:
    """The character span of the entity's first mention that covers the tokens of a span."""
    for mention_entity, start, end, char_start, char_end in zip(
        example.mention_entities,
        example.mention_starts,
        example.mention_ends,
        example.mention_char_starts,
        example.mention_char_ends,
        strict=True,
    ):
        if mention_entity == entity and start <= span[0] and span[1] <= end:
            return char_start, char_end
    raise ValueError(f"no mention of entity {entity} covers tokens {span}")
