"""The language `biorel`: a Doc is its text again, whatever the text, and a pipeline comes back as it was saved."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from biorel.ner.words import features, split_words

spacy = pytest.importorskip("spacy")
language = pytest.importorskip("biorel.ner.spacy_language")

KNOWN = ("pain", "and", "5-ht", "µg")
TEXT = "Pain and 5-HT: acute renal failure (ARF),  2 µg\nof TNF-α; ARF"


def blank(*known: str):
    nlp = spacy.blank(language.NAME)
    nlp.tokenizer = language.WordTokenizer(nlp.vocab, known)
    return nlp


NLP = blank(*KNOWN)


def told(doc) -> list[tuple[str, str, str, str]]:
    return [(token.text, token.norm_, token.lemma_, token.tag_) for token in doc]


@given(st.text())
@example("")
@example("  ")
@example(" \u2003a\u00a0\u00a0b \r\n\x1c c ")
@example("İ ﬁ e\u0301 👩\u200d🔬 \U0001d6fc2\u00b2_x")
def test_a_doc_keeps_text_and_offsets(text):
    doc = NLP(text)
    assert doc.text == text
    assert [token.idx for token in doc] == list(split_words(text).starts)
    assert all(text[token.idx : token.idx + len(token)] == token.text for token in doc)


@given(st.text(alphabet="aB9-/ .()µ\n", max_size=30), st.data())
def test_every_reachable_span_can_be_made_from_the_doc(text, data):
    doc = NLP(text)
    if len(doc):
        first = data.draw(st.integers(0, len(doc) - 1))
        last = data.draw(st.integers(first, len(doc) - 1))
        start, end = doc[first].idx, doc[last].idx + len(doc[last])
        span = doc.char_span(start, end, label="Chemical")
        assert (span.start_char, span.end_char, span.text) == (start, end, text[start:end])


@pytest.mark.parametrize("text", ["EGFR T790M/L858R.", "EGFR T790M / L858R .", "EGFR-T790M/L858R,"])
def test_T07_a_variant_is_a_span_of_words(text):
    doc = NLP(text)
    for variant in ("T790M", "L858R"):
        start = text.index(variant)
        span = doc.char_span(start, start + len(variant), label="Gene")
        assert span.text == variant
        assert len(span) > 1


def test_tokens_store_the_features_of_words():
    expected = features(TEXT, split_words(TEXT), set(KNOWN))
    doc = NLP(TEXT)
    assert tuple(token.norm_ for token in doc) == expected.identities
    assert tuple(token.lemma_ for token in doc) == expected.chunks
    assert tuple(token.tag_ for token in doc) == expected.hints
    assert [token.tag_ for token in doc if token.text == "ARF"] == ["=lure", "=lure"]


def test_affixes_have_four_letters_in_lower_case():
    token = NLP("Chloroquine")[0]
    assert (token.prefix_, token.suffix_) == ("chlo", "uine")


def test_a_saved_pipeline_gives_the_same_tokens_and_features(tmp_path):
    NLP.to_disk(tmp_path / "model")
    again = spacy.load(tmp_path / "model")
    assert (again.lang, again.tokenizer.known) == (language.NAME, frozenset(KNOWN))
    assert told(again(TEXT)) == told(NLP(TEXT))
    again.to_disk(tmp_path / "twice")
    assert (tmp_path / "twice" / "tokenizer").read_bytes() == (tmp_path / "model" / "tokenizer").read_bytes()


def test_bytes_depend_only_on_the_set_of_known_words():
    forth, back = blank(*KNOWN).tokenizer.to_bytes(), blank(*reversed(KNOWN)).tokenizer.to_bytes()
    assert forth == back
    other = blank("else")
    assert told(other(TEXT)) != told(NLP(TEXT))
    other.tokenizer.from_bytes(forth)
    assert told(other(TEXT)) == told(NLP(TEXT))
