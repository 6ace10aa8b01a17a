"""Which documents, and which of their pairs, make up each step: pure generators of plans.

Every draw comes from (seed, epoch), never from a global state, so that a resumed run sees the same steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from biorel.errors import InputError
from biorel.model.budget import filled_batches, shuffled_batches
from biorel.records import Example


@dataclass(frozen=True, slots=True)
class Plan:
    """One step: documents by index, and for each the indices of its pairs that count."""

    documents: tuple[int, ...]
    pairs: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class TextStep:
    """One step over texts: their places; `epoch` and `number` say what is drawn for it."""

    texts: tuple[int, ...]
    epoch: int
    number: int


def text_steps(lengths: Sequence[int], *, token_budget: int, seed: int, epoch: int) -> list[TextStep]:
    """Every text once, in shuffled batches under a budget of padded tokens."""
    batches = shuffled_batches(lengths, token_budget=token_budget, seed=seed, epoch=epoch)
    return [TextStep(batch, epoch, number) for number, batch in enumerate(batches)]


def usable_pairs(example: Example) -> tuple[int, ...]:
    """The pairs that train: those that nothing holds back."""
    return tuple(index for index, drop in enumerate(example.pair_exclusions) if not drop)


def document_plans(examples: Sequence[Example], *, token_budget: int, seed: int, epoch: int) -> Iterator[Plan]:
    """Every document once, all its pairs at once, in shuffled batches under a budget of padded tokens.

    Documents without a usable pair still train the entity types.
    """
    lengths = [len(example.token_ids) for example in examples]
    for documents in shuffled_batches(lengths, token_budget=token_budget, seed=seed, epoch=epoch):
        yield Plan(documents, tuple(usable_pairs(examples[index]) for index in documents))


def ordered_plans(examples: Sequence[Example], *, token_budget: int, positions: int) -> Iterator[Plan]:
    """All pairs of all documents for scoring, documents of like length together; long ones alone."""
    lengths = [len(example.token_ids) for example in examples]
    by_length = sorted(range(len(examples)), key=lambda index: (lengths[index], index))
    short = [index for index in by_length if lengths[index] <= positions]
    alone = [[index] for index in by_length if lengths[index] > positions]
    for documents in [*filled_batches(short, lengths, token_budget), *alone]:
        pairs = all_pairs([examples[index] for index in documents]).pairs
        yield Plan(tuple(documents), pairs)


def all_pairs(documents: Sequence[Example]) -> Plan:
    """The plan that scores every pair of these documents together."""
    return Plan(tuple(range(len(documents))), tuple(tuple(range(len(document.pair_heads))) for document in documents))


def pair_plans(
    examples: Sequence[Example], *, pairs_per_step: int, steps: int, seed: int, epoch: int
) -> Iterator[Plan]:
    """The paper's sampling (appendix A): a minibatch of pairs, all positive or all NULL, by a fair coin.

    Raises:
        InputError: no document has a usable pair.
    """
    pools: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
    for document, example in enumerate(examples):
        for pair in usable_pairs(example):
            pools[bool(example.pair_labels[pair])].append((document, pair))
    if not any(pools.values()):
        raise InputError("the train split has no pair to draw from", "see the counts in the dataset's manifest")
    random = np.random.default_rng((seed, epoch))
    for _ in range(steps):
        pool = pools[bool(random.random() < 0.5)] or pools[True] or pools[False]
        chosen: dict[int, list[int]] = {}
        for place in random.integers(len(pool), size=pairs_per_step).tolist():
            document, pair = pool[place]
            chosen.setdefault(document, []).append(pair)
        documents = tuple(sorted(chosen))
        yield Plan(documents, tuple(tuple(sorted(set(chosen[document]))) for document in documents))
