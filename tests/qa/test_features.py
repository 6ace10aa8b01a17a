"""The eight features against a naive reading of the paper, and its own example."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biorel.qa.features import ALONE, FEATURES, DocumentFrequencies, distinct_words, word_features
from biorel.qa.similarity import PLACEHOLDER, edit_distance, jaccard, windows
from biorel.text.alignment import words
from tests.qa import naive

symbols = st.lists(st.integers(0, 4), max_size=8)


def numbers(values):
    return np.array(values, dtype=np.int64)


@given(symbols, symbols)
def test_edit_distance_is_levenshteins_of_each_window(question, passage):
    expected = [
        naive.levenshtein(question, naive.window(passage, place, len(question))) / len(question) if question else 1.0
        for place in range(len(passage))
    ]
    np.testing.assert_allclose(edit_distance(numbers(question), numbers(passage)), expected, atol=1e-6)


def test_a_question_of_more_symbols_than_a_word_of_the_machine_has_bits():
    random = np.random.default_rng(0)
    for size in (63, 64, 65, 130):
        question, passage = random.integers(0, 6, size), random.integers(0, 6, 150)
        expected = [
            naive.levenshtein(question.tolist(), naive.window(passage.tolist(), place, size)) / size
            for place in (0, 40, 149)
        ]
        np.testing.assert_allclose(edit_distance(question, passage)[[0, 40, 149]], expected, atol=1e-6)


@given(symbols, symbols)
def test_jaccard_is_of_the_sets_of_each_window(question, passage):
    expected = []
    for place in range(len(passage)):
        around = set(naive.window(passage, place, len(question))) - {None}
        expected.append(len(around & set(question)) / len(around | set(question)) if question else 0.0)
    np.testing.assert_allclose(jaccard(numbers(question), numbers(passage)), expected, atol=1e-6)


def test_a_window_is_as_long_as_the_question_and_filled_up_at_the_ends():
    assert windows(numbers([7, 8, 9]), 4).tolist() == [
        [PLACEHOLDER, PLACEHOLDER, 7, 8],
        [PLACEHOLDER, 7, 8, 9],
        [7, 8, 9, PLACEHOLDER],
    ]


def of(question, passage, company=ALONE):
    return word_features(words(question), words(passage), company)


def test_a_word_that_stands_in_the_question_is_told_by_word_and_by_character():
    """The paper's example: `acting` is asked, `coacting` is not that word, but six of its eight letters match."""
    features = of("acting", "zz acting coacting")
    assert features[:, 0].tolist() == [0, 1, 0]
    assert features[1, 4] == 1
    # c is a letter of the question, o is not
    assert features[2, 4] == pytest.approx(7 / 8)


def test_the_share_of_passages_is_the_papers():
    """Ten passages; a word in 4 of the other 9 has 4 / 10."""
    texts = ["tremor now", *["tremor"] * 4, *["quiet"] * 5]
    company = DocumentFrequencies.of(distinct_words(text) for text in texts)
    features = of("x", texts[0], company)
    assert features[:, 1].tolist() == pytest.approx([0.4, 0.0])
    # of the letters of `now` only o is not in quiet, only n and w in no other
    held = [sum(letter in text for text in texts[1:]) / 10 for letter in "now"]
    assert features[1, 5] == pytest.approx(sum(held) / 3)


def test_a_document_alone_has_no_other_passages():
    assert of("a b", "a b c")[:, [1, 5]].tolist() == [[0, 0]] * 3


def test_the_window_that_is_the_question_is_nearest():
    features = of("the drug caused harm", "before that the drug caused harm and more")
    assert features[:, 3].argmin() == 4
    assert (features[4, 2], features[4, 3]) == (1, 0)


def test_case_does_not_matter_and_all_are_in_0_to_1():
    assert (of("LITHIUM?", "Lithium did.") == of("lithium?", "lithium did.")).all()
    features = of("Which drugs induce β-thalassemia (1.5 %)?", "β-Thalassemia 1.5 % — [drug] 𝛼𝛼!")
    assert features.shape[1] == FEATURES
    assert ((features >= 0) & (features <= 1)).all()


@pytest.mark.parametrize(("question", "passage", "rows"), [("", "a b", 2), ("a", "", 0), ("", "", 0), ("   ", " ", 0)])
def test_empty_texts_have_features_all_the_same(question, passage, rows):
    features = of(question, passage)
    assert features.shape == (rows, FEATURES)
    assert np.isfinite(features).all()
