"""Plan which documents, and which of their pairs, make up each training step.

Texts of similar length share a batch, within a budget of padded tokens. All random draws come from (seed, epoch), never
from global state, so that a resumed run sees the same steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from biorel.errors import InputError
from biorel.records import Example

# texts are sorted by length within chunks of this many batches, which limits padding
_SORTED_BATCHES = 8


@dataclass(frozen=True, slots=True)
class Plan:
    """One step: the indices of its documents, and for each of them the indices of the pairs that count."""

    documents: tuple[int, ...]
    pairs: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class TextStep:
    """One step over texts, by index; `epoch` and `number` seed the random draws of the step."""

    texts: tuple[int, ...]
    epoch: int
    number: int


def shuffled_batches(lengths: Sequence[int], *, token_budget: int, seed: int, epoch: int) -> Iterator[tuple[int, ...]]:
    """The indices of all texts, each once, in shuffled batches of similar length within a budget of padded tokens."""
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
    """The indices of all texts, each once, in batches from the shortest text to the longest."""
    yield from filled_batches(
        sorted(range(len(lengths)), key=lambda index: (lengths[index], index)), lengths, token_budget
    )


def filled_batches(order: Sequence[int], lengths: Sequence[int], token_budget: int) -> Iterator[list[int]]:
    """Cut a sequence of text indices into batches whose size times the longest length is within the budget.

    A text longer than the budget is a batch alone.
    """
    batch: list[int] = []
    longest = 0
    for index in order:
        longest = max(longest, lengths[index])
        if batch and longest * (len(batch) + 1) > token_budget:
            yield batch
            batch, longest = [], lengths[index]
        batch.append(index)
    if batch:
        yield batch


def text_steps(lengths: Sequence[int], *, token_budget: int, seed: int, epoch: int) -> list[TextStep]:
    """Every text once, in shuffled batches within a budget of padded tokens."""
    batches = shuffled_batches(lengths, token_budget=token_budget, seed=seed, epoch=epoch)
    return [TextStep(batch, epoch, number) for number, batch in enumerate(batches)]


def usable_pairs(example: Example) -> tuple[int, ...]:
    """The indices of the pairs that take part in training, which are those without a reason for exclusion."""
    return tuple(index for index, excluded in enumerate(example.pair_exclusions) if not excluded)


def document_plans(examples: Sequence[Example], *, token_budget: int, seed: int, epoch: int) -> Iterator[Plan]:
    """Every document once with all its usable pairs, in shuffled batches within a budget of padded tokens.

    Documents without a usable pair still train the entity types.
    """
    lengths = [len(example.token_ids) for example in examples]
    for documents in shuffled_batches(lengths, token_budget=token_budget, seed=seed, epoch=epoch):
        yield Plan(documents, tuple(usable_pairs(examples[index]) for index in documents))


def ordered_plans(examples: Sequence[Example], *, token_budget: int, positions: int) -> Iterator[Plan]:
    """All pairs of all documents, for scoring: documents in order of length, any longer than `positions` alone."""
    lengths = [len(example.token_ids) for example in examples]
    by_length = sorted(range(len(examples)), key=lambda index: (lengths[index], index))
    short = [index for index in by_length if lengths[index] <= positions]
    alone = [[index] for index in by_length if lengths[index] > positions]
    for documents in [*filled_batches(short, lengths, token_budget), *alone]:
        pairs = all_pairs([examples[index] for index in documents]).pairs
        yield Plan(tuple(documents), pairs)


def all_pairs(documents: Sequence[Example]) -> Plan:
    """The plan of one step with every pair of these documents."""
    return Plan(tuple(range(len(documents))), tuple(tuple(range(len(document.pair_heads))) for document in documents))


def pair_plans(
    examples: Sequence[Example], *, pairs_per_step: int, steps: int, seed: int, epoch: int
) -> Iterator[Plan]:
    """The paper's sampling (appendix A): minibatches of pairs that are all positive or all NULL, with probability 0.5.

    Raises:
        InputError: no document has a usable pair.
    """
    pools: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
    for document, example in enumerate(examples):
        for pair in usable_pairs(example):
            pools[bool(example.pair_labels[pair])].append((document, pair))
    if not any(pools.values()):
        raise InputError(
            "the train split has no pair that can be trained on", "see the counts in manifest.json of the dataset"
        )
    random = np.random.default_rng((seed, epoch))
    for _ in range(steps):
        pool = pools[bool(random.random() < 0.5)] or pools[True] or pools[False]
        chosen: dict[int, list[int]] = {}
        for drawn in random.integers(len(pool), size=pairs_per_step).tolist():
            document, pair = pool[drawn]
            chosen.setdefault(document, []).append(pair)
        documents = tuple(sorted(chosen))
        yield Plan(documents, tuple(tuple(sorted(set(chosen[document]))) for document in documents))
