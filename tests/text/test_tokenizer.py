"""Byte pair encoding against a naive implementation; token spans are spans of the stored text."""

import json
import random
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from biorel.errors import InputError
from biorel.text.alignment import token_span
from biorel.text.tokenizer import PAD, PAD_ID, UNK, UNK_ID, import_subword_nmt, learn_bpe, load_tokenizer

TEXTS = [
    "Labetalol-induced hypotension in hypertensive patients.",
    "Hypotension was induced by labetalol 1,2-dimethylhydrazine in 19 patients.",
    "Naive T cells of patients with EGFR mutations.",
]


@pytest.fixture(scope="module")
def learned() -> Tokenizer:
    return learn_bpe(TEXTS, 120)


def _naive_bpe(word: str, merges: list[tuple[str, str]]) -> list[str]:
    """Sennrich et al. 2016: join the pair that was learned first, everywhere, until none is left."""
    pieces = [*word[:-1], f"{word[-1]}</w>"]
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    while True:
        known = [ranks[pair] for pair in pairwise(pieces) if pair in ranks]
        if not known:
            return pieces
        pair = merges[min(known)]
        joined: list[str] = []
        for piece in pieces:
            if joined and (joined[-1], piece) == pair:
                joined[-1] += piece
            else:
                joined.append(piece)
        pieces = joined


def test_learned_tokens_are_those_of_a_naive_bpe(learned: Tokenizer) -> None:
    merges = [tuple(pair) for pair in json.loads(learned.to_str())["model"]["merges"]]
    assert len(merges) > 20
    for word in ("Hypotension", "patients", "induced", "mutations", "tension", "hydrazine", "Labetalolinduced"):
        assert learned.encode(word).tokens == _naive_bpe(word, merges)


def test_the_vocabulary_keeps_to_its_size_and_begins_with_pad_and_unk(learned: Tokenizer) -> None:
    assert learned.get_vocab_size() <= 120
    assert (learned.token_to_id(PAD), learned.token_to_id(UNK)) == (PAD_ID, UNK_ID) == (0, 1)
    assert learn_bpe(TEXTS, 90).get_vocab_size() <= 90


def test_the_same_texts_give_the_same_vocabulary(learned: Tokenizer) -> None:
    for _ in range(3):
        assert learn_bpe(TEXTS, 120).to_str() == learned.to_str()


def test_the_vocabulary_does_not_depend_on_the_order_of_texts(learned: Tokenizer) -> None:
    assert learn_bpe(TEXTS[::-1], 120).to_str() == learned.to_str()


def test_a_letter_of_the_texts_is_known_within_and_at_the_end_of_a_word(learned: Tokenizer) -> None:
    for word in ("jjj", "yLy", "E", "99"):
        assert (UNK_ID in learned.encode(word).ids) == (word == "jjj")
    assert learned.encode("-,").tokens == ["-</w>", ",</w>"]


def test_characters_beyond_all_scripts_are_learned_as_unknown() -> None:
    texts = ["ab\U000f0061 cd\U00080062", "ab ab \U0010ffff"]
    tokenizer = learn_bpe(texts, 50)
    assert [piece for piece in tokenizer.get_vocab() if not piece.isascii()] == ["\ufffd</w>"]
    assert tokenizer.encode("ab").tokens == ["ab</w>"]
    assert tokenizer.encode("cd\U00080062").tokens[-1] == UNK


def test_letters_digits_and_other_characters_are_never_merged(learned: Tokenizer) -> None:
    text = "labetalol-induced 1,2-dimethylhydrazine T790M p_value"
    encoding = learned.encode(text)
    pieces = [text[start:end] for start, end in encoding.offsets]
    assert "-" in pieces
    assert "_" in pieces
    assert all(piece.isalpha() or piece.isdigit() or len(piece) == 1 for piece in pieces)


@given(st.text(max_size=30))
@settings(max_examples=150, deadline=None)
def test_every_character_but_blanks_is_in_exactly_one_token(text: str) -> None:
    encoding = _LEARNED.encode(text)
    assert all(0 <= start < end <= len(text) for start, end in encoding.offsets)
    assert all(one[1] <= other[0] for one, other in pairwise(encoding.offsets))
    covered = {place for start, end in encoding.offsets for place in range(start, end)}
    missed = {place for place in range(len(text)) if not text[place].isspace()} - covered
    assert missed == set()


_LEARNED = learn_bpe(TEXTS, 120)


def test_t02_decomposed_letters_keep_the_spans_of_the_stored_text(learned: Tokenizer) -> None:
    text = "nai\u0308ve T cells"
    assert len(text) == 14
    encoding = learned.encode(text)
    starts, ends = [start for start, _ in encoding.offsets], [end for _, end in encoding.offsets]
    for begin, stop in ((0, 6), (7, 14)):
        first, last = token_span(starts, ends, begin, stop)
        assert (starts[first], ends[last - 1]) == (begin, stop)
    assert json.loads(learned.to_str())["normalizer"] is None


def test_t03_unknown_characters_do_not_collapse(learned: Tokenizer) -> None:
    encoding = learned.encode("𝛼𝛼𝛼-toxin")
    assert encoding.offsets[:4] == [(0, 1), (1, 2), (2, 3), (3, 4)]
    assert encoding.ids[:3] == [UNK_ID] * 3
    starts, ends = [start for start, _ in encoding.offsets], [end for _, end in encoding.offsets]
    spans = [token_span(starts, ends, place, place + 1) for place in range(3)]
    assert spans == [(0, 1), (1, 2), (2, 3)]


def test_t04_no_truncation_or_padding_survives_loading(learned: Tokenizer, tmp_path: Path) -> None:
    other = Tokenizer.from_str(learned.to_str())
    other.enable_truncation(4)
    other.enable_padding(length=6)
    other.save(str(tmp_path / "tokenizer.json"))
    loaded = load_tokenizer(tmp_path / "tokenizer.json")
    for text in ("a b c d e", "a"):
        assert len(loaded.encode(text).ids) == len(text.split())
    saved = json.loads(loaded.to_str())
    assert saved["truncation"] is None
    assert saved["padding"] is None
    assert json.loads(learned.to_str())["truncation"] is json.loads(learned.to_str())["padding"] is None


def test_a_saved_tokenizer_gives_the_same_tokens(learned: Tokenizer, tmp_path: Path) -> None:
    learned.save(str(tmp_path / "tokenizer.json"))
    loaded = load_tokenizer(tmp_path / "tokenizer.json")
    for text in TEXTS:
        assert loaded.encode(text).ids == learned.encode(text).ids
        assert loaded.encode(text).offsets == learned.encode(text).offsets


def test_rejects_a_missing_or_malformed_tokenizer(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        load_tokenizer(tmp_path / "tokenizer.json")
    for content in ("{}", "not json", ""):
        (tmp_path / "tokenizer.json").write_text(content)
        with pytest.raises(InputError, match="not a tokenizer file"):
            load_tokenizer(tmp_path / "tokenizer.json")


MERGES = "#version: 0.2\nt i\ni o\nti o\ntio n</w>\na c\nac tion</w>\ni n\nin d\nu c\n"


def _merges(tmp_path: Path, content: str = MERGES) -> Path:
    path = tmp_path / "merges.bpe"
    path.write_text(content, encoding="utf-8")
    return path


def test_imported_merges_give_the_tokens_of_a_naive_bpe(tmp_path: Path) -> None:
    tokenizer = import_subword_nmt(_merges(tmp_path), ["induction action ratio"])
    merges = [tuple(line.split(" ")) for line in MERGES.splitlines()[1:]]
    assert tokenizer.encode("action").tokens == ["action</w>"]
    rng = random.Random(0)
    words = ["induction", "action", "ratio", "ti", "i", *("".join(rng.choices("tionacdur", k=7)) for _ in range(60))]
    for word in words:
        assert tokenizer.encode(word).tokens == _naive_bpe(word, merges)
    assert tokenizer.encode(" ".join(words)).tokens == [piece for word in words for piece in _naive_bpe(word, merges)]


def test_the_imported_alphabet_comes_from_merges_and_texts(tmp_path: Path) -> None:
    tokenizer = import_subword_nmt(_merges(tmp_path), ["β-agonist"])
    assert (tokenizer.token_to_id(PAD), tokenizer.token_to_id(UNK)) == (PAD_ID, UNK_ID)
    assert UNK_ID not in tokenizer.encode("β-agonist induction").ids
    assert tokenizer.encode("γ").ids == [UNK_ID]
    ids = sorted(tokenizer.get_vocab().values())
    assert ids == list(range(len(ids)))
    again = import_subword_nmt(_merges(tmp_path), ["agonist", "β-"])
    assert again.to_str() == tokenizer.to_str()


def test_a_merge_of_unknown_symbols_is_ignored(tmp_path: Path) -> None:
    tokenizer = import_subword_nmt(_merges(tmp_path, "xy z\nx y\nxy z</w>\n"), [])
    assert tokenizer.encode("xyz").tokens == ["xyz</w>"]
    assert tokenizer.encode("xyza").tokens[:2] == ["xy", "z"]


def test_the_error_of_a_malformed_merges_file_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"merges\.bpe: no such file"):
        import_subword_nmt(tmp_path / "merges.bpe", [])
    for line in ("a", "a b c"):
        with pytest.raises(InputError, match=r"merges\.bpe:3: "):
            import_subword_nmt(_merges(tmp_path, f"#version: 0.2\na b\n{line}\n"), [])
