"""Texts into batches under a budget of padded tokens, those of like length together.

Every draw comes from (seed, epoch), never from a global state, so that a resumed run sees the same batches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

# texts are sorted by length within chunks of this many batches, against padding
_SORTED_BATCHES = 8


def shuffled_batches(lengths: Sequence[int], *, token_budget: int, seed: int, epoch: int) -> Iterator[tuple[int, ...]]:
    """The places of all texts, each once, in batches of like length under a budget of padded tokens, shuffled."""
    order = np.random.default_rng((seed, epoch)).permutation(len(lengths)).tolist()
    mean_length = max(1, sum(lengths) // max(1, len(lengths)))
    chunk = max(1, token_budget // mean_length) * _SORTED_BATCHES
    batches: list[list[int]] = []
    for begin in range(0, len(order), chunk):
        by_length = sorted(order[begin : begin + chunk], key=lengths.__getitem__)
        batches.extend(filled_batches(by_length, lengths, token_budget))
    for number in np.random.default_rng((seed, epoch, 1)).permutation(len(batches)).tolist():
        yield tuple(batches[number])


def ordered_batches(lengths: Sequence[int], *, token_budget: int) -> Iterator[list[int]]:
    """The places of all texts, each once, from the shortest to the longest."""
    yield from filled_batches(
        sorted(range(len(lengths)), key=lambda index: (lengths[index], index)), lengths, token_budget
    )


def filled_batches(places: Sequence[int], lengths: Sequence[int], token_budget: int) -> Iterator[list[int]]:
    """Cut a run of texts into batches whose longest length times their number fits the budget."""
    batch: list[int] = []
    longest = 0
    for index in places:
        longest = max(longest, lengths[index])
        if batch and longest * (len(batch) + 1) > token_budget:
            yield batch
            batch, longest = [], lengths[index]
        batch.append(index)
    if batch:
        yield batch
