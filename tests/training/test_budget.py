"""Batches within a budget of padded tokens: every text once, the same for the same seed and epoch."""

from __future__ import annotations

import pytest

from biorel.training.batches import ordered_batches, shuffled_batches

LENGTHS = (3, 17, 8, 41, 5, 5, 29, 12, 90, 1, 22, 14, 9, 33, 6, 19, 2, 11, 50, 7) * 3
BUDGET = 60


@pytest.mark.parametrize(
    "batches",
    [
        list(shuffled_batches(LENGTHS, token_budget=BUDGET, seed=1, epoch=0)),
        list(ordered_batches(LENGTHS, token_budget=BUDGET)),
    ],
    ids=["shuffled", "ordered"],
)
def test_every_text_is_in_one_batch_and_only_a_single_text_may_exceed_the_budget(batches):
    assert sorted(place for batch in batches for place in batch) == list(range(len(LENGTHS)))
    assert all(max(LENGTHS[place] for place in batch) * len(batch) <= BUDGET for batch in batches if len(batch) > 1)
    assert max(map(len, batches)) > 5


def test_the_order_depends_on_seed_and_epoch():
    def drawn(seed: int, epoch: int) -> list[tuple[int, ...]]:
        return list(shuffled_batches(LENGTHS, token_budget=BUDGET, seed=seed, epoch=epoch))

    assert drawn(1, 0) == drawn(1, 0)
    assert drawn(1, 0) != drawn(1, 1)
    assert drawn(1, 0) != drawn(2, 0)


def test_ordered_batches_go_from_short_to_long():
    lengths = [LENGTHS[place] for batch in ordered_batches(LENGTHS, token_budget=BUDGET) for place in batch]
    assert lengths == sorted(LENGTHS)
