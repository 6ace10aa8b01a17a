"""Tensors of a batch against the lists of its examples, and links against a loop over mentions."""

from itertools import pairwise

import pytest
import torch

from biorel.dataset.pair_features import FEATURES
from biorel.model.batch import Batch
from biorel.records import Example
from biorel.training.batches import Plan
from tests.builders import RELATION_TYPES, batch_of, collator, example, random_example

UNITS = ("mentions", "tokens")


@pytest.fixture
def documents() -> list[Example]:
    return [
        random_example(1, 9),
        example(tokens=[7, 8]),
        random_example(2, 15, entities=6),
        random_example(3, 4),
    ]


def _unit_tokens(batch: Batch, side: str, row: int, unit: int) -> tuple[int, ...]:
    tokens, mask = getattr(batch, f"{side}_tokens"), getattr(batch, f"{side}_mask")
    return tuple(tokens[row, unit][mask[row, unit]].tolist())


def _links(batch: Batch) -> list[list[tuple[int, tuple[int, ...], tuple[int, ...]]]]:
    """For each pair the (document, head tokens, tail tokens) of its links, read back from flat places."""
    found: list[list[tuple[int, tuple[int, ...], tuple[int, ...]]]] = [[] for _ in range(batch.pairs)]
    heads, tails = batch.head_tokens.shape[1], batch.tail_tokens.shape[1]
    for link, pair in zip(batch.links.tolist(), batch.link_pairs.tolist(), strict=True):
        row, rest = divmod(link, heads * tails)
        head, tail = divmod(rest, tails)
        found[pair].append((row, _unit_tokens(batch, "head", row, head), _unit_tokens(batch, "tail", row, tail)))
    return found


def _expected_units(document: Example, entity: int, units: str) -> set[tuple[int, ...]]:
    spans = [
        tuple(range(start, end))
        for own, start, end in zip(
            document.mention_entities, document.mention_starts, document.mention_ends, strict=True
        )
        if own == entity
    ]
    return set(spans) if units == "mentions" else {(token,) for span in spans for token in span}


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 0), (2,)])
def test_links_join_every_head_unit_with_every_tail_unit(
    documents: list[Example], units: str, order: tuple[int, ...]
) -> None:
    batch = batch_of(documents, *order, units=units)
    expected = []
    for row, index in enumerate(order):
        document = documents[index]
        for head, tail in zip(document.pair_heads, document.pair_tails, strict=True):
            heads, tails = (_expected_units(document, entity, units) for entity in (head, tail))
            expected.append({(row, one, other) for one in heads for other in tails})
    found = _links(batch)
    assert [set(links) for links in found] == expected
    assert [len(links) for links in found] == [len(links) for links in expected]  # none twice
    assert batch.link_pairs.tolist() == sorted(batch.link_pairs.tolist())
    assert set(batch.link_pairs.tolist()) == set(range(batch.pairs))


def test_tokens_of_overlapping_mentions_count_once() -> None:
    document = example(
        tokens=[2, 3, 4, 5, 6],
        entities=[("Chemical", [(0, 3), (2, 4), (0, 3)]), ("Disease", [(3, 5)])],
        pairs=[(0, 1, (1,))],
    )
    (links,) = _links(batch_of([document], units="tokens"))
    assert sorted(links) == [(0, (head,), (tail,)) for head in range(4) for tail in (3, 4)]
    (links,) = _links(batch_of([document], units="mentions"))
    assert sorted(links) == [(0, (0, 1, 2), (3, 4)), (0, (2, 3), (3, 4))]


def test_tokens_mask_and_tags_are_padded(documents: list[Example]) -> None:
    batch = batch_of(documents)
    assert batch.token_ids.shape == (4, 15)
    for row, document in enumerate(documents):
        length = len(document.token_ids)
        assert batch.token_ids[row].tolist() == [*document.token_ids, *[0] * (15 - length)]
        assert batch.ner_labels[row].tolist() == [*document.ner_tags, *[0] * (15 - length)]
        assert batch.token_mask[row].tolist() == [True] * length + [False] * (15 - length)


def test_labels_features_and_allowed_relations_follow_the_pairs(documents: list[Example]) -> None:
    batch = batch_of(documents, 2, 0)
    row = 0
    for place, index in enumerate((2, 0)):
        document = documents[index]
        for pair, (head, tail) in enumerate(zip(document.pair_heads, document.pair_tails, strict=True)):
            types = (document.entity_types[head], document.entity_types[tail])
            labels = document.pair_labels[pair]
            assert batch.labels[row].tolist() == [
                not labels if label == 0 else label in labels for label in range(len(RELATION_TYPES) + 1)
            ]
            assert batch.allowed[row].tolist() == [True, *(types == own for own in RELATION_TYPES)]
            torch.testing.assert_close(batch.pair_features[row], torch.tensor(document.pair_features[pair]))
            assert batch.pair_documents[row] == place
            row += 1
    assert row == batch.pairs == len(batch.labels) == len(batch.allowed) == len(batch.pair_features)


def test_cues_and_the_numbers_of_entities_follow_the_pairs(documents: list[Example]) -> None:
    batch = batch_of(documents, 2, 0)
    pairs = [
        ((index, head), (index, tail), cues)
        for index in (2, 0)
        for head, tail, cues in zip(
            documents[index].pair_heads,
            documents[index].pair_tails,
            documents[index].pair_lexical_features,
            strict=True,
        )
    ]
    ends = [*batch.cue_starts.tolist(), len(batch.cues)]
    assert [tuple(batch.cues[begin:end].tolist()) for begin, end in pairwise(ends)] == [cues for _, _, cues in pairs]
    numbers = [*batch.pair_heads.tolist(), *batch.pair_tails.tolist()]
    entities = [*(head for head, _, _ in pairs), *(tail for _, tail, _ in pairs)]
    assert len(set(zip(numbers, entities, strict=True))) == len(set(numbers)) == len(set(entities))
    assert set(numbers) == set(range(len(set(numbers))))


def test_a_plan_takes_only_its_own_pairs(documents: list[Example]) -> None:
    document = documents[2]
    pairs = (len(document.pair_heads) - 1, 0)
    batch = collator()(documents, Plan((1, 2), ((), pairs)))
    assert batch.pair_documents.tolist() == [1, 1]
    for row, pair in enumerate(pairs):
        heads = _expected_units(document, document.pair_heads[pair], "mentions")
        assert {head for _, head, _ in _links(batch)[row]} == heads
        torch.testing.assert_close(batch.pair_features[row], torch.tensor(document.pair_features[pair]))
    assert batch.cues.tolist() == [cue for pair in pairs for cue in document.pair_lexical_features[pair]]
    assert batch.cue_starts.tolist() == [0, len(document.pair_lexical_features[pairs[0]])]


def test_without_features_their_width_is_zero(documents: list[Example]) -> None:
    assert batch_of(documents, features=False).pair_features.shape == (batch_of(documents).pairs, 0)


@pytest.mark.parametrize("features", [True, False])
@pytest.mark.parametrize("units", UNITS)
def test_documents_without_a_pair_make_a_batch(units: str, features: bool) -> None:
    for document in (example(tokens=[5, 6]), example(tokens=[])):
        batch = batch_of([document], units=units, features=features)
        width = len(FEATURES) if features else 0
        assert batch.pair_features.shape == (0, width)
        assert batch.labels.shape == batch.allowed.shape == (0, 5)
        assert (batch.labels.dtype, batch.allowed.dtype) == (torch.bool, torch.bool)
        assert batch.links.shape == batch.link_pairs.shape == (0,)
        assert batch.cues.shape == batch.cue_starts.shape == batch.pair_heads.shape == batch.pair_tails.shape == (0,)
        assert batch.token_mask.sum() == len(document.token_ids)


def test_kinds_of_numbers(documents: list[Example]) -> None:
    batch = batch_of(documents)
    whole = (
        *("token_ids", "head_tokens", "tail_tokens", "links", "link_pairs", "pair_documents", "ner_labels"),
        *("pair_heads", "pair_tails", "cues", "cue_starts"),
    )
    assert {getattr(batch, name).dtype for name in whole} == {torch.int64}
    masks = ("token_mask", "head_mask", "tail_mask", "allowed", "labels")
    assert {getattr(batch, name).dtype for name in masks} == {torch.bool}
    assert batch.pair_features.dtype == torch.float32
