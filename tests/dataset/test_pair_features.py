"""The features of a pair, counted by hand."""

from math import log1p

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biorel.dataset.pair_features import FEATURES, MentionPlace, pair_features

HEADS = (MentionPlace(2, 4, 0, True), MentionPlace(30, 31, 3, False))
TAILS = (MentionPlace(10, 12, 1, False), MentionPlace(34, 35, 3, False), MentionPlace(50, 51, 5, False))


def _named(*arguments: object) -> dict[str, float]:
    return dict(zip(FEATURES, pair_features(*arguments), strict=True))  # type: ignore[arg-type]


def test_a_pair_counted_by_hand() -> None:
    assert _named(HEADS, TAILS, (2, 6), (1, 3, 1), 8) == pytest.approx(
        {
            "log token distance of the closest mentions": log1p(3),  # 31 to 34
            "log mentions of the head": log1p(2),
            "log mentions of the tail": log1p(3),
            "head in the title": 1.0,
            "tail in the title": 0.0,
            "log sentences that mention both": log1p(1),
            "log sentence distance of the closest mentions": 0.0,
            "head mentioned first": 1.0,
            "log entities of the head's type": log1p(2),
            "log entities of the tail's type": log1p(3),
            "head's share of the mentions of its type": 2 / 8,
            "tail's share of the mentions of its type": 3 / 5,
            "no entity of its type is mentioned more often than the head": 0.0,
            "no entity of its type is mentioned more often than the tail": 1.0,
            "head's first sentence, as a share of the text": 0.0,
            "tail's first sentence, as a share of the text": 1 / 8,
            "head's last sentence, as a share of the text": 3 / 8,
            "tail's last sentence, as a share of the text": 5 / 8,
        }
    )


def test_head_and_tail_change_places() -> None:
    found, turned = _named(HEADS, TAILS, (2,), (3,), 6), _named(TAILS, HEADS, (3,), (2,), 6)
    for name, other in (
        ("log token distance of the closest mentions", "log token distance of the closest mentions"),
        ("log mentions of the head", "log mentions of the tail"),
        ("head in the title", "tail in the title"),
        ("head's last sentence, as a share of the text", "tail's last sentence, as a share of the text"),
        ("log entities of the head's type", "log entities of the tail's type"),
    ):
        assert found[name] == turned[other]
    assert (found["head mentioned first"], turned["head mentioned first"]) == (1.0, 0.0)


@pytest.mark.parametrize(("start", "end", "gap"), [(0, 2, 0), (1, 3, 0), (2, 4, 0), (4, 5, 0), (5, 6, 1), (0, 1, 1)])
def test_spans_that_touch_or_overlap_are_at_distance_zero(start: int, end: int, gap: int) -> None:
    found = pair_features((MentionPlace(2, 4, 0, False),), (MentionPlace(start, end, 0, False),), (1,), (1,), 1)
    assert found[0] == pytest.approx(log1p(gap))


def test_the_closest_sentence_need_not_be_that_of_the_closest_tokens() -> None:
    heads = (MentionPlace(9, 10, 0, False), MentionPlace(40, 41, 2, False))
    tails = (MentionPlace(11, 12, 1, False), MentionPlace(60, 61, 2, False))
    found = _named(heads, tails, (2,), (2,), 3)
    assert found["log token distance of the closest mentions"] == pytest.approx(log1p(1))
    assert found["log sentence distance of the closest mentions"] == 0.0
    assert found["log sentences that mention both"] == pytest.approx(log1p(1))


def test_several_mentions_in_one_sentence_count_it_once() -> None:
    heads = tuple(MentionPlace(place, place + 1, 0, False) for place in range(4))
    found = _named(heads, (MentionPlace(9, 10, 0, False),), (4,), (1,), 1)
    assert found["log sentences that mention both"] == log1p(1)


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
    heads: list[MentionPlace], tails: list[MentionPlace], head_rivals: list[int], tail_rivals: list[int]
) -> None:
    rivals = ((len(heads), *head_rivals), (len(tails), *tail_rivals))
    found = pair_features(heads, tails, *rivals, 41)
    assert len(found) == len(FEATURES)
    assert all(0.0 <= value < 7.0 for value in found)
    assert pair_features(heads[::-1], tails[::-1], *rivals, 41) == found
