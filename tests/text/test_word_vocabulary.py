"""Word-level tokens: which words have a token of their own, and that their spans are those of the text."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer

from biorel.text.alignment import token_span
from biorel.text.tokenizer import PAD, UNK, import_subword_nmt, learn_bpe, learn_words, load_tokenizer, spellings

TEXTS = ["Aspirin caused ulcers.", "aspirin, aspirin-induced ulcers", "ulcers and aspirin"]


@pytest.fixture
def tokenizer() -> Tokenizer:
    return learn_words(TEXTS, 2)


def test_words_seen_often_enough_have_tokens_the_most_frequent_first(tokenizer):
    vocabulary = tokenizer.get_vocab()
    assert sorted(vocabulary, key=vocabulary.__getitem__) == [PAD, UNK, "aspirin", "ulcers"]
    assert learn_words(TEXTS, 3).get_vocab() == vocabulary
    assert learn_words(TEXTS, 4).get_vocab_size() == 2
    assert set(learn_words(TEXTS, 1).get_vocab()) == {
        *(PAD, UNK, "aspirin", "ulcers", "Aspirin", "caused", ".", ",", "-", "induced", "and")
    }


def test_the_order_of_the_texts_does_not_matter():
    assert learn_words(TEXTS[::-1], 1).to_str() == learn_words(TEXTS, 1).to_str()


def test_other_words_are_unk_with_their_spans(tokenizer):
    encoding = tokenizer.encode("β-blockers and aspirin 100mg")
    assert encoding.tokens == [UNK, UNK, UNK, UNK, "aspirin", UNK, UNK]
    assert encoding.offsets == [(0, 1), (1, 2), (2, 10), (11, 14), (15, 22), (23, 26), (26, 28)]


def test_words_are_the_pieces_that_byte_pair_encoding_divides(tokenizer):
    text = "Labetalol-induced (1,2-dimethylhydrazine) ulcers_of 19 µg"
    words = tokenizer.encode(text).offsets
    pieces = learn_bpe([text, *TEXTS], 100).encode(text).offsets
    assert len(words) < len(pieces)
    assert {start for start, _ in words} <= {start for start, _ in pieces}
    assert {end for _, end in words} <= {end for _, end in pieces}


def test_a_mention_that_ends_inside_a_word_covers_it(tokenizer):
    encoding = tokenizer.encode("aspirins caused ulcers")
    starts, ends = zip(*encoding.offsets, strict=True)
    assert token_span(starts, ends, 0, 7) == (0, 1)
    assert token_span(starts, ends, 16, 22) == (2, 3)


def test_it_reads_the_same_from_its_file_and_its_folder(tokenizer, tmp_path):
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    for place in (tmp_path, tmp_path / "tokenizer.json"):
        assert load_tokenizer(place).to_str() == tokenizer.to_str()


def test_files_of_vectors_spell_words_as_they_are_and_sub_words_as_subword_nmt_does(tokenizer, tmp_path):
    assert spellings(tokenizer) == {PAD: 0, UNK: 1, "aspirin": 2, "ulcers": 3}
    merges = tmp_path / "merges.txt"
    merges.write_text("a s\nas p</w>\n", encoding="utf-8")
    imported = import_subword_nmt(merges, ["asp"])
    spelled = {token: index for token, index in spellings(imported).items() if len(token.removesuffix("@@")) > 1}
    assert spelled == {
        "[PAD]": 0,
        "[UNK]": 1,
        "as@@": imported.token_to_id("as"),
        "asp": imported.token_to_id("asp</w>"),
    }
    assert sorted(spellings(imported).values()) == list(range(imported.get_vocab_size()))
