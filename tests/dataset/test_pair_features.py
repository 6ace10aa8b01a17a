"""The features of a pair, against values worked out by hand."""

from math import expm1, log1p

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biorel.dataset.pair_features import FEATURES, MentionPlace, pair_features, token_distances
from tests.builders import example

HEADS = (MentionPlace(2, 4, 0, True), MentionPlace(30, 31, 3, False))
TAILS = (MentionPlace(10, 12, 1, False), MentionPlace(34, 35, 3, False), MentionPlace(50, 51, 5, False))


def _named(*arguments: object) -> dict[str, float]:
    return dict(zip(FEATURES, pair_features(*arguments), strict=True))  # type: ignore[arg-type]


def test_features_of_a_pair_worked_out_by_hand() -> None:
    assert _named(HEADS, TAILS, (2, 6), (1, 3, 1), 8) == pytest.approx(
        {
            "log_token_distance": log1p(3),  # 31 to 34
            "log_head_mentions": log1p(2),
            "log_tail_mentions": log1p(3),
            "head_in_title": 1.0,
            "tail_in_title": 0.0,
            "log_shared_sentences": log1p(1),
            "log_sentence_distance": 0.0,
            "head_mentioned_first": 1.0,
            "log_entities_of_head_type": log1p(2),
            "log_entities_of_tail_type": log1p(3),
            "head_share_of_mentions_of_its_type": 2 / 8,
            "tail_share_of_mentions_of_its_type": 3 / 5,
            "head_most_mentioned_of_its_type": 0.0,
            "tail_most_mentioned_of_its_type": 1.0,
            "first_head_sentence": 0.0,
            "first_tail_sentence": 1 / 8,
            "last_head_sentence": 3 / 8,
            "last_tail_sentence": 5 / 8,
        }
    )


def test_exchanging_head_and_tail_exchanges_their_features() -> None:
    features, exchanged = _named(HEADS, TAILS, (2,), (3,), 6), _named(TAILS, HEADS, (3,), (2,), 6)
    for name, other in (
        ("log_token_distance", "log_token_distance"),
        ("log_head_mentions", "log_tail_mentions"),
        ("head_in_title", "tail_in_title"),
        ("last_head_sentence", "last_tail_sentence"),
        ("log_entities_of_head_type", "log_entities_of_tail_type"),
    ):
        assert features[name] == exchanged[other]
    assert (features["head_mentioned_first"], exchanged["head_mentioned_first"]) == (1.0, 0.0)


@pytest.mark.parametrize(("start", "end", "gap"), [(0, 2, 0), (1, 3, 0), (2, 4, 0), (4, 5, 0), (5, 6, 1), (0, 1, 1)])
def test_spans_that_touch_or_overlap_are_at_distance_zero(start: int, end: int, gap: int) -> None:
    features = pair_features((MentionPlace(2, 4, 0, False),), (MentionPlace(start, end, 0, False),), (1,), (1,), 1)
    assert features[0] == pytest.approx(log1p(gap))
    document = example(tokens=[5] * 9, entities=[("A", [(2, 4)]), ("B", [(start, end)])], pairs=[(0, 1, ())])
    assert token_distances(document) == (gap,)


def test_the_closest_sentences_may_belong_to_other_mentions_than_the_closest_tokens() -> None:
    heads = (MentionPlace(9, 10, 0, False), MentionPlace(40, 41, 2, False))
    tails = (MentionPlace(11, 12, 1, False), MentionPlace(60, 61, 2, False))
    features = _named(heads, tails, (2,), (2,), 3)
    assert features["log_token_distance"] == pytest.approx(log1p(1))
    assert features["log_sentence_distance"] == 0.0
    assert features["log_shared_sentences"] == pytest.approx(log1p(1))


def test_several_mentions_in_one_sentence_share_it_once() -> None:
    heads = tuple(MentionPlace(place, place + 1, 0, False) for place in range(4))
    features = _named(heads, (MentionPlace(9, 10, 0, False),), (4,), (1,), 1)
    assert features["log_shared_sentences"] == log1p(1)


PLACES = st.lists(
    st.builds(
        lambda start, size, sentence, title: MentionPlace(start, start + size, sentence, title),
        st.integers(0, 900),
        st.integers(1, 9),
        st.integers(0, 40),
        st.booleans(),
    ),
    min_size=1,
    max_size=6,
)


@given(PLACES, PLACES, st.lists(st.integers(1, 9), max_size=5), st.lists(st.integers(1, 9), max_size=5))
@settings(max_examples=80, deadline=None)
def test_features_stay_small_and_ignore_the_order_of_mentions(
    heads: list[MentionPlace], tails: list[MentionPlace], other_heads: list[int], other_tails: list[int]
) -> None:
    type_counts = ((len(heads), *other_heads), (len(tails), *other_tails))
    features = pair_features(heads, tails, *type_counts, 41)
    assert len(features) == len(FEATURES)
    assert all(0.0 <= value < 7.0 for value in features)
    assert pair_features(heads[::-1], tails[::-1], *type_counts, 41) == features


@given(PLACES, PLACES)
@settings(max_examples=80, deadline=None)
def test_the_distance_of_an_example_is_the_one_in_its_features(
    heads: list[MentionPlace], tails: list[MentionPlace]
) -> None:
    spans = [("A", [(place.start, place.end) for place in heads]), ("B", [(place.start, place.end) for place in tails])]
    document = example(tokens=[5], entities=spans, pairs=[(0, 1, ())])
    features = pair_features(heads, tails, (len(heads),), (len(tails),), 41)
    assert token_distances(document) == (round(expm1(features[0])),)
