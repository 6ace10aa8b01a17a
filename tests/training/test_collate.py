"""The tensors of a batch equal the lists of its examples, and mention pairs equal a loop over mentions."""

from itertools import pairwise

import pytest
import torch

from biorel.dataset.pair_features import FEATURES
from biorel.model.batch import Batch
from biorel.records import Example
from biorel.training.batches import Plan
from tests.builders import RELATION_TYPES, batch_of, collator, example, random_example

SPAN_POOLINGS = ("mentions", "tokens")


@pytest.fixture
def documents() -> list[Example]:
    return [
        random_example(1, 9),
        example(tokens=[7, 8]),
        random_example(2, 15, entities=6),
        random_example(3, 4),
    ]


def _span_tokens(batch: Batch, side: str, row: int, span: int) -> tuple[int, ...]:
    tokens, mask = getattr(batch, f"{side}_tokens"), getattr(batch, f"{side}_mask")
    return tuple(tokens[row, span][mask[row, span]].tolist())


def _mention_pairs(batch: Batch) -> list[list[tuple[int, tuple[int, ...], tuple[int, ...]]]]:
    """The (document, head tokens, tail tokens) of each entity pair's mention pairs, from their flat indices."""
    found: list[list[tuple[int, tuple[int, ...], tuple[int, ...]]]] = [[] for _ in range(batch.pair_count)]
    heads, tails = batch.head_tokens.shape[1], batch.tail_tokens.shape[1]
    for mention_pair, pair in zip(batch.mention_pairs.tolist(), batch.entity_pairs.tolist(), strict=True):
        row, rest = divmod(mention_pair, heads * tails)
        head, tail = divmod(rest, tails)
        found[pair].append((row, _span_tokens(batch, "head", row, head), _span_tokens(batch, "tail", row, tail)))
    return found


def _expected_spans(document: Example, entity: int, span_pooling: str) -> set[tuple[int, ...]]:
    spans = [
        tuple(range(start, end))
        for own, start, end in zip(
            document.mention_entities, document.mention_starts, document.mention_ends, strict=True
        )
        if own == entity
    ]
    return set(spans) if span_pooling == "mentions" else {(token,) for span in spans for token in span}


@pytest.mark.parametrize("span_pooling", SPAN_POOLINGS)
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 0), (2,)])
def test_mention_pairs_join_every_head_span_with_every_tail_span(
    documents: list[Example], span_pooling: str, order: tuple[int, ...]
) -> None:
    batch = batch_of(documents, *order, span_pooling=span_pooling)
    expected = []
    for row, index in enumerate(order):
        document = documents[index]
        for head, tail in zip(document.pair_heads, document.pair_tails, strict=True):
            heads, tails = (_expected_spans(document, entity, span_pooling) for entity in (head, tail))
            expected.append({(row, head_span, tail_span) for head_span in heads for tail_span in tails})
    found = _mention_pairs(batch)
    assert [set(mention_pairs) for mention_pairs in found] == expected
    assert [len(pairs) for pairs in found] == [len(pairs) for pairs in expected]  # no duplicates
    assert batch.entity_pairs.tolist() == sorted(batch.entity_pairs.tolist())
    assert set(batch.entity_pairs.tolist()) == set(range(batch.pair_count))


def test_tokens_of_overlapping_mentions_count_once() -> None:
    document = example(
        tokens=[2, 3, 4, 5, 6],
        entities=[("Chemical", [(0, 3), (2, 4), (0, 3)]), ("Disease", [(3, 5)])],
        pairs=[(0, 1, (1,))],
    )
    (mention_pairs,) = _mention_pairs(batch_of([document], span_pooling="tokens"))
    assert sorted(mention_pairs) == [(0, (head,), (tail,)) for head in range(4) for tail in (3, 4)]
    (mention_pairs,) = _mention_pairs(batch_of([document], span_pooling="mentions"))
    assert sorted(mention_pairs) == [(0, (0, 1, 2), (3, 4)), (0, (2, 3), (3, 4))]


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
    assert row == batch.pair_count == len(batch.labels) == len(batch.allowed) == len(batch.pair_features)


def test_lexical_features_and_entity_numbers_follow_the_pairs(documents: list[Example]) -> None:
    batch = batch_of(documents, 2, 0)
    pairs = [
        ((index, head), (index, tail), lexical)
        for index in (2, 0)
        for head, tail, lexical in zip(
            documents[index].pair_heads,
            documents[index].pair_tails,
            documents[index].pair_lexical_features,
            strict=True,
        )
    ]
    ends = [*batch.lexical_starts.tolist(), len(batch.lexical_features)]
    assert [tuple(batch.lexical_features[begin:end].tolist()) for begin, end in pairwise(ends)] == [
        lexical for _, _, lexical in pairs
    ]
    numbers = [*batch.pair_heads.tolist(), *batch.pair_tails.tolist()]
    entities = [*(head for head, _, _ in pairs), *(tail for _, tail, _ in pairs)]
    assert len(set(zip(numbers, entities, strict=True))) == len(set(numbers)) == len(set(entities))
    assert set(numbers) == set(range(len(set(numbers))))


def test_a_batch_holds_only_the_pairs_of_its_plan(documents: list[Example]) -> None:
    document = documents[2]
    pairs = (len(document.pair_heads) - 1, 0)
    batch = collator()(documents, Plan((1, 2), ((), pairs)))
    assert batch.pair_documents.tolist() == [1, 1]
    for row, pair in enumerate(pairs):
        heads = _expected_spans(document, document.pair_heads[pair], "mentions")
        assert {head for _, head, _ in _mention_pairs(batch)[row]} == heads
        torch.testing.assert_close(batch.pair_features[row], torch.tensor(document.pair_features[pair]))
    assert batch.lexical_features.tolist() == [
        bucket for pair in pairs for bucket in document.pair_lexical_features[pair]
    ]
    assert batch.lexical_starts.tolist() == [0, len(document.pair_lexical_features[pairs[0]])]


def test_without_features_their_width_is_zero(documents: list[Example]) -> None:
    assert batch_of(documents, features=False).pair_features.shape == (batch_of(documents).pair_count, 0)


@pytest.mark.parametrize("features", [True, False])
@pytest.mark.parametrize("span_pooling", SPAN_POOLINGS)
def test_accepts_documents_without_a_pair(span_pooling: str, features: bool) -> None:
    for document in (example(tokens=[5, 6]), example(tokens=[])):
        batch = batch_of([document], span_pooling=span_pooling, features=features)
        width = len(FEATURES) if features else 0
        assert batch.pair_features.shape == (0, width)
        assert batch.labels.shape == batch.allowed.shape == (0, 5)
        assert (batch.labels.dtype, batch.allowed.dtype) == (torch.bool, torch.bool)
        assert batch.mention_pairs.shape == batch.entity_pairs.shape == (0,)
        assert (
            batch.lexical_features.shape
            == batch.lexical_starts.shape
            == batch.pair_heads.shape
            == batch.pair_tails.shape
            == (0,)
        )
        assert batch.token_mask.sum() == len(document.token_ids)


def test_tensors_have_the_documented_types(documents: list[Example]) -> None:
    batch = batch_of(documents)
    integers = (
        *("token_ids", "head_tokens", "tail_tokens", "mention_pairs", "entity_pairs", "pair_documents", "ner_labels"),
        *("pair_heads", "pair_tails", "lexical_features", "lexical_starts"),
    )
    assert {getattr(batch, name).dtype for name in integers} == {torch.int64}
    masks = ("token_mask", "head_mask", "tail_mask", "allowed", "labels")
    assert {getattr(batch, name).dtype for name in masks} == {torch.bool}
    assert batch.pair_features.dtype == torch.float32
