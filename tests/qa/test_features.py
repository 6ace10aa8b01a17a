"""The eight features against naive implementations, and the paper's own examples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biorel.qa.features import (
    FEATURES,
    PLACEHOLDER,
    SINGLE_PASSAGE,
    DocumentFrequencies,
    distinct_words,
    edit_distance,
    jaccard,
    question_windows,
    word_features,
)
from biorel.text.alignment import words
from tests.qa import naive

symbols = st.lists(st.integers(0, 4), max_size=8)


def numbers(values):
    return np.array(values, dtype=np.int64)


@given(symbols, symbols)
def test_edit_distance_is_the_levenshtein_distance_of_each_window(question, passage):
    expected = [
        naive.levenshtein(question, naive.window(passage, place, len(question))) / len(question) if question else 1.0
        for place in range(len(passage))
    ]
    np.testing.assert_allclose(edit_distance(numbers(question), numbers(passage)), expected, atol=1e-6)


def test_edit_distance_of_questions_longer_than_64_symbols():
    random = np.random.default_rng(0)
    for size in (63, 64, 65, 130):
        question, passage = random.integers(0, 6, size), random.integers(0, 6, 150)
        expected = [
            naive.levenshtein(question.tolist(), naive.window(passage.tolist(), place, size)) / size
            for place in (0, 40, 149)
        ]
        np.testing.assert_allclose(edit_distance(question, passage)[[0, 40, 149]], expected, atol=1e-6)


@given(symbols, symbols)
def test_jaccard_compares_the_sets_of_each_window(question, passage):
    expected = []
    for place in range(len(passage)):
        around = set(naive.window(passage, place, len(question))) - {None}
        expected.append(len(around & set(question)) / len(around | set(question)) if question else 0.0)
    np.testing.assert_allclose(jaccard(numbers(question), numbers(passage)), expected, atol=1e-6)


def test_windows_are_as_long_as_the_question_and_padded():
    assert question_windows(numbers([7, 8, 9]), 4).tolist() == [
        [PLACEHOLDER, PLACEHOLDER, 7, 8],
        [PLACEHOLDER, 7, 8, 9],
        [7, 8, 9, PLACEHOLDER],
    ]


def features_of(question, passage, document_frequencies=SINGLE_PASSAGE):
    return word_features(words(question), words(passage), document_frequencies)


def test_occurrence_in_the_question_by_word_and_by_character():
    """The paper's example: the question has `acting`, the passage `coacting`, which matches by characters only."""
    features = features_of("acting", "zz acting coacting")
    assert features[:, 0].tolist() == [0, 1, 0]
    assert features[1, 4] == 1
    # of the letters of `coacting` the question lacks only o
    assert features[2, 4] == pytest.approx(7 / 8)


def test_share_of_other_passages_is_that_of_the_paper():
    """The paper's example: ten passages; a word in 4 of the other 9 has the share 4 / 10."""
    texts = ["tremor now", *["tremor"] * 4, *["quiet"] * 5]
    document_frequencies = DocumentFrequencies.of(distinct_words(text) for text in texts)
    features = features_of("x", texts[0], document_frequencies)
    assert features[:, 1].tolist() == pytest.approx([0.4, 0.0])
    shares = [sum(letter in text for text in texts[1:]) / 10 for letter in "now"]
    assert features[1, 5] == pytest.approx(sum(shares) / 3)


def test_a_single_passage_has_no_other_passages():
    assert features_of("a b", "a b c")[:, [1, 5]].tolist() == [[0, 0]] * 3


def test_the_window_equal_to_the_question_is_most_similar():
    features = features_of("the drug caused harm", "before that the drug caused harm and more")
    assert features[:, 3].argmin() == 4
    assert (features[4, 2], features[4, 3]) == (1, 0)


def test_features_ignore_case_and_lie_in_0_to_1():
    assert (features_of("LITHIUM?", "Lithium did.") == features_of("lithium?", "lithium did.")).all()
    features = features_of("Which drugs induce β-thalassemia (1.5 %)?", "β-Thalassemia 1.5 % — [drug] 𝛼𝛼!")
    assert features.shape[1] == FEATURES
    assert ((features >= 0) & (features <= 1)).all()


@pytest.mark.parametrize(("question", "passage", "rows"), [("", "a b", 2), ("a", "", 0), ("", "", 0), ("   ", " ", 0)])
def test_empty_texts_have_finite_features(question, passage, rows):
    features = features_of(question, passage)
    assert features.shape == (rows, FEATURES)
    assert np.isfinite(features).all()
