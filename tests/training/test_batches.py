"""Plans: which pairs take part in which step; they are the same for the same seed and epoch."""

from collections import Counter
from itertools import pairwise

import pytest

from biorel.errors import InputError
from biorel.records import Example
from biorel.training.batches import Plan, document_plans, ordered_plans, pair_plans, usable_pairs
from tests.builders import example

BUDGET = 60
LENGTHS = (3, 17, 8, 41, 5, 5, 29, 12, 90, 1, 22, 14, 9, 33, 6, 19, 2, 11, 50, 7)


def _document(
    length: int, labels: tuple[tuple[int, ...], ...] = ((1,), (), ()), drops: tuple[str, ...] = ()
) -> Example:
    entities = [("Chemical", [(0, 1)]), *(("Disease", [(0, 1)]) for _ in labels)]
    return example(
        tokens=[2] * length,
        entities=entities,
        pairs=[(0, tail, own) for tail, own in enumerate(labels, start=1)],
        drops=drops or ("",) * len(labels),
    )


@pytest.fixture
def documents() -> list[Example]:
    return [_document(length) for length in LENGTHS]


def _plans(documents: list[Example], *, seed: int = 1, epoch: int = 0, budget: int = BUDGET) -> list[Plan]:
    return list(document_plans(documents, token_budget=budget, seed=seed, epoch=epoch))


def _padded(plan: Plan) -> int:
    return max(LENGTHS[index] for index in plan.documents) * len(plan.documents)


@pytest.mark.parametrize("budget", [1, 60, 200, 10_000])
@pytest.mark.parametrize("epoch", [0, 1])
def test_an_epoch_holds_every_document_once_within_the_budget(
    documents: list[Example], budget: int, epoch: int
) -> None:
    plans = _plans(documents, epoch=epoch, budget=budget)
    assert sorted(index for plan in plans for index in plan.documents) == list(range(len(LENGTHS)))
    assert all(_padded(plan) <= budget or len(plan.documents) == 1 for plan in plans)
    assert all(plan.pairs == ((0, 1, 2),) * len(plan.documents) for plan in plans)
    if budget == 10_000:
        assert len(plans) == 1


def test_batches_fill_the_budget(documents: list[Example]) -> None:
    assert len(_plans(documents)) < len(LENGTHS) / 1.5


def test_plans_depend_on_seed_and_epoch_only(documents: list[Example]) -> None:
    assert _plans(documents) == _plans(documents)
    others = [
        _plans(documents),
        _plans(documents, epoch=1),
        _plans(documents, epoch=2),
        _plans(documents, seed=2),
    ]
    assert all(one != other for place, one in enumerate(others) for other in others[:place])


def test_the_composition_of_batches_changes_with_the_epoch() -> None:
    """With documents of one length, sorting by length does not decide which of them share a batch."""
    documents = [_document(20) for _ in range(60)]
    batches = [{frozenset(plan.documents) for plan in _plans(documents, epoch=epoch)} for epoch in range(3)]
    assert batches[0] != batches[1] != batches[2] != batches[0]


def test_batches_of_an_epoch_are_not_in_order_of_length(documents: list[Example]) -> None:
    longest = [max(LENGTHS[index] for index in plan.documents) for plan in _plans(documents)]
    assert longest != sorted(longest)


def test_excluded_pairs_do_not_train_but_their_documents_do() -> None:
    documents = [
        _document(4, ((1,), (), ()), ("", "hypernym", "inferred")),
        _document(4, ((),), ("unmapped",)),
        example(tokens=[2, 3]),
    ]
    assert [usable_pairs(document) for document in documents] == [(0,), (), ()]
    (plan,) = _plans(documents)
    assert dict(zip(plan.documents, plan.pairs, strict=True)) == {0: (0,), 1: (), 2: ()}


def test_without_documents_there_is_no_plan() -> None:
    assert _plans([]) == []
    assert list(ordered_plans([], token_budget=10, positions=5)) == []


@pytest.mark.parametrize("budget", [1, 60, 10_000])
def test_ordered_plans_cover_every_pair_once_and_put_long_documents_in_separate_steps(
    documents: list[Example], budget: int
) -> None:
    plans = list(ordered_plans(documents, token_budget=budget, positions=33))
    assert sorted(index for plan in plans for index in plan.documents) == list(range(len(LENGTHS)))
    assert all(pairs == (0, 1, 2) for plan in plans for pairs in plan.pairs)
    assert all(_padded(plan) <= budget or len(plan.documents) == 1 for plan in plans)
    order = [LENGTHS[index] for plan in plans for index in plan.documents]
    assert all(one <= other for one, other in pairwise(order))
    assert all(len(plan.documents) == 1 for plan in plans if _padded(plan) > 33 * len(plan.documents))
    if budget == 10_000:
        assert len(plans[0].documents) == sum(length <= 33 for length in LENGTHS)


def test_ordered_plans_include_excluded_pairs() -> None:
    documents = [_document(4, ((1,), ()), ("", "hypernym"))]
    assert list(ordered_plans(documents, token_budget=10, positions=5)) == [Plan((0,), ((0, 1),))]


def _pair_plans(documents: list[Example], *, steps: int = 400, seed: int = 3, epoch: int = 0) -> list[Plan]:
    return list(pair_plans(documents, pairs_per_step=8, steps=steps, seed=seed, epoch=epoch))


def _is_positive(documents: list[Example], plan: Plan) -> set[bool]:
    return {
        bool(documents[index].pair_labels[pair])
        for index, pairs in zip(plan.documents, plan.pairs, strict=True)
        for pair in pairs
    }


def test_the_papers_minibatches_are_all_positive_or_all_null_with_equal_probability(documents: list[Example]) -> None:
    kinds = [_is_positive(documents, plan) for plan in _pair_plans(documents)]
    assert all(len(kind) == 1 for kind in kinds)
    share = sum(kind == {True} for kind in kinds) / len(kinds)
    assert 0.42 < share < 0.58  # 400 draws: 3 standard deviations
    # a third of the pairs are positive, which would be the share without this sampling


def test_the_papers_minibatches_hold_a_pair_at_most_once_and_reach_all_pairs(documents: list[Example]) -> None:
    drawn: Counter[tuple[int, int]] = Counter()
    for plan in _pair_plans(documents):
        assert list(plan.documents) == sorted(set(plan.documents))
        found = [(i, pair) for i, pairs in zip(plan.documents, plan.pairs, strict=True) for pair in pairs]
        assert all(pairs for pairs in plan.pairs)
        assert len(found) == len(set(found)) <= 8
        drawn.update(found)
    assert set(drawn) == {(index, pair) for index in range(len(documents)) for pair in range(3)}


def test_r07_pair_plans_depend_on_seed_and_epoch_only(documents: list[Example]) -> None:
    assert _pair_plans(documents, steps=5) == _pair_plans(documents, steps=5)
    assert _pair_plans(documents, steps=5) != _pair_plans(documents, steps=5, epoch=1)
    assert _pair_plans(documents, steps=5) != _pair_plans(documents, steps=5, seed=4)
    assert _pair_plans(documents, steps=5) == _pair_plans(documents, steps=9)[:5]


@pytest.mark.parametrize("labels", [((1,), (2,)), ((), ())])
def test_where_one_pool_is_empty_the_other_is_used(labels: tuple[tuple[int, ...], ...]) -> None:
    documents = [_document(4, labels)]
    plans = _pair_plans(documents, steps=20)
    assert len(plans) == 20
    assert all(_is_positive(documents, plan) == {bool(labels[0])} for plan in plans)


def test_excluded_pairs_are_never_drawn() -> None:
    documents = [_document(4, ((1,), (), ()), ("", "", "hypernym")), _document(4, ((),), ("inferred",))]
    found = {
        (i, p)
        for plan in _pair_plans(documents)
        for i, own in zip(plan.documents, plan.pairs, strict=True)
        for p in own
    }
    assert found == {(0, 0), (0, 1)}


def test_d07_rejects_documents_without_a_usable_pair() -> None:
    with pytest.raises(InputError, match="no pair"):
        _pair_plans([_document(4, ((),), ("inferred",))], steps=3)
