"""Words of a text: nothing is lost, entity borders are word borders, and what a tagger is told of each."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biorel.ner.words import chunks, features, glosses, reachable_spans, shared_words, split_words


@given(st.text())
def test_words_and_spaces_give_the_text(text):
    split = split_words(text)
    assert "".join(word + " " * space for word, space in zip(split.words, split.spaces, strict=True)) == text
    assert all(text.startswith(word, start) for word, start in zip(split.words, split.starts, strict=True))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("5-HT2A/2C.", ["5", "-", "HT", "2", "A", "/", "2", "C", "."]),
        ("(1+1)EA", ["(", "1", "+", "1", ")", "EA"]),
        ("TNF-α µg", ["TNF", "-", "α", "µg"]),
        ("a  b\n c", ["a", " ", "b", "\n ", "c"]),
        ("", []),
    ],
)
def test_separates_letters_digits_and_other_characters(text, words):
    assert list(split_words(text).words) == words


def test_T07_a_variant_begins_and_ends_at_word_borders():
    text = "EGFR T790M/L858R."
    assert reachable_spans(text, [(5, 10), (11, 16), (5, 16)]) == 3
    assert reachable_spans(text, [(1, 4), (5, 9)]) == 1


def test_a_chunk_is_delimited_by_blanks():
    text = "of (5-HT), then"
    assert list(chunks(text, split_words(text).starts)) == ["of", *["5-ht"] * 6, "then"]


def test_a_short_form_has_a_gloss_of_its_long_form():
    words = split_words("ARF: acute renal failure (ARF) is not (it) here, (ABC) neither").words
    told = dict(zip(words, glosses(words), strict=True))
    assert told["ARF"] == "lure"
    assert told["it"] == told["acute"] == told["ABC"] == ""


def test_a_rare_word_is_represented_by_its_count():
    known = shared_words(["Zetine and pain", "pain and more"], 2)
    assert known == ("and", "pain")
    text = "pain, Zetine, zetine"
    told = features(text, split_words(text), known)
    assert told.identities == ("pain", "?2", "?2", "?2", "?2")
    assert told.chunks == ("pain", "pain", "?etine", "?etine", "?etine")
    assert told.hints[2] == "ine"
