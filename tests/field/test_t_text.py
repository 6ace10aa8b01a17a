"""T: tokens and characters: normalisers, unknown characters, lengths."""

from __future__ import annotations

import json
import re

import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from biorel.counts import Counts, Reason
from biorel.dataset.featurize import Featurizer
from biorel.model.windows import encode_in_windows, plan_windows
from biorel.ner.spacy_language import BiorelLanguage
from biorel.records import Document, Example, Mention
from biorel.tables import read_table
from biorel.text.tokenizer import learn_bpe, load_tokenizer
from tests.command_runs import build, command_line, flags, pubtator, read_json, tiny_model
from tests.field.tables import counts, pairs


def word_piece(*words: str, special: bool = False, normalizer: object = None) -> Tokenizer:
    """A foreign tokenizer of whole words and [UNK]; optionally it puts [CLS] and [SEP] around each text."""
    vocabulary = {word: number for number, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))  # noqa: S106
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    if special:
        marks = [("[CLS]", 2), ("[SEP]", 3)]
        tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=marks)
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    return tokenizer


def encoded(tokenizer: Tokenizer, text: str, *names: str, counts: Counts | None = None) -> Example:
    places = [re.search(re.escape(name), text) for name in names]
    spans = [place.span() for place in places if place]
    mentions = [Mention("1", *span, text[slice(*span)], "Chemical", f"MESH:{n}") for n, span in enumerate(spans)]
    encoder = Featurizer(tokenizer, ("r",), ("O", "B-Chemical", "I-Chemical"))
    return encoder.example(Document("1", text, ""), mentions, mentions, (), counts or Counts())


def shown(example: Example, text: str) -> list[str]:
    """The text under the tokens of each mention."""
    spans = zip(example.mention_starts, example.mention_ends, strict=True)
    return [text[example.token_starts[first] : example.token_ends[last - 1]] for first, last in spans]


NAIVE = "nai\u0308ve T cells"
TOKENIZERS = {
    "learned": learn_bpe(["naive T cells", NAIVE, "Kaposi"], 200),
    "NFC": word_piece("naïve", "T", "cells", normalizer=normalizers.NFC()),
    "stripped accents, special tokens": word_piece(
        "naive", "T", "cells", special=True, normalizer=normalizers.BertNormalizer(lowercase=False, strip_accents=True)
    ),
}


@pytest.mark.parametrize("kind", TOKENIZERS)
def test_t_02_spans_refer_to_the_stored_text_under_any_normaliser(kind):
    assert len(NAIVE) == 14
    example = encoded(TOKENIZERS[kind], NAIVE, "nai\u0308ve", "T cells")
    assert shown(example, NAIVE) == ["nai\u0308ve", "T cells"]
    assert sorted(example.token_starts) == list(example.token_starts)


@pytest.mark.parametrize("title", [NAIVE, "e\u0301a", "\u1100\u1161 \ufb01 Å"])
def test_t_02_stores_the_text_unchanged(write, tmp_path, title):
    text = pubtator(
        "1", title, "Zetin, tremor.", [("Zetin", "Chemical", "D1"), ("tremor", "Disease", "D2")], [("D1", "D2")]
    )
    build(tmp_path / "d", train=[write("a.txt", text)], schema="cdr")
    (document,) = read_table(tmp_path / "d" / "train" / "documents.parquet", Document)
    assert document.title == title


@pytest.mark.parametrize("letters", ["𝛼𝛼𝛼", "𝛼𝛽", "漢字"])
def test_t_03_unknown_characters_have_separate_positions(letters):
    text = f"{letters}-toxin"
    tokenizer = learn_bpe(["toxin is here"], 100)
    example = encoded(tokenizer, text, letters, "toxin")
    assert shown(example, text) == [letters, "toxin"]
    assert len(set(example.token_starts[: len(letters)])) == len(letters)


@pytest.mark.parametrize(("text", "names"), [("𝛼𝛽𝛾", "𝛼𝛾"), ("𝛼𝛽-toxin", "𝛼𝛽"), ("foobar", ("foo", "bar"))])
def test_t_03_counts_mentions_that_share_a_token(text, names):
    """Here a whole word is one [UNK], so two names in one word have the same position."""
    counts = Counts()
    example = encoded(word_piece("toxin"), text, *names, counts=counts)
    assert len(set(zip(example.mention_starts, example.mention_ends, strict=True))) == 1
    assert counts[Reason.MENTIONS_SHARING_TOKEN] == 1


@pytest.mark.parametrize("given", ["truncation", "padding", "both"])
def test_t_04_stores_no_length_limit_in_a_tokenizer(write, tmp_path, given):
    tokenizer = learn_bpe(["one two three four five"], 100)
    if given != "padding":
        tokenizer.enable_truncation(4)
    if given != "truncation":
        tokenizer.enable_padding(length=60)
    tokenizer.save(str(tmp_path / "theirs.json"))
    text = pubtator(
        "1", "Zetin.", "Tremor, one two.", [("Zetin", "Chemical", "D1"), ("Tremor", "Disease", "D2")], [("D1", "D2")]
    )
    out = tmp_path / "d"
    build(out, train=[write("a.txt", text)], schema="cdr", tokenizer_file=tmp_path / "theirs.json")
    saved = read_json(out / "tokenizer.json")
    assert (saved["truncation"], saved["padding"]) == (None, None)
    words = load_tokenizer(out / "tokenizer.json").encode("one two three four five").ids
    assert len(words) == len(learn_bpe(["one two three four five"], 100).encode("one two three four five").ids)
    (example,) = read_table(out / "train" / "examples.parquet", Example)
    assert example.token_ends[-1] == len("Zetin. Tremor, one two.")


def far(doc_id: str, words: int) -> str:
    """A pair whose head is at token 0 and whose tail is `words` tokens later."""
    rest = " ".join(["one"] * words) + " tremor"
    marks = [("Zetin", "Chemical", "D900001"), ("tremor", "Disease", "D900002")]
    return pubtator(doc_id, "Zetin.", rest, marks, [("D900001", "D900002")])


@pytest.mark.parametrize("cap", [16, 500])
@pytest.mark.parametrize("words", [40, 100])
def test_t_05_counts_an_entity_past_the_token_limit_against_recall(write, tmp_path, cap, words):
    sets = {"train": [write("a.txt", far("1", 1))], "test": [write("b.txt", far("2", words))]}
    stats = build(tmp_path / "d", **sets, schema="cdr", max_tokens=cap)
    kept = cap == 500
    assert stats["splits"]["test"]["too_long_positives"] == (not kept)
    assert stats["splits"]["test"]["positives"] == kept
    assert pairs(tmp_path / "d", "test")["MESH:D900001", "MESH:D900002"].excluded_because == (
        "" if kept else "too_long"
    )
    assert counts(tmp_path / "d").get(Reason.POSITIVE_PAIR_TOO_LONG, 0) == (not kept)


@pytest.mark.parametrize("length", [1, 15, 16, 17, 40, 333])
def test_t_05_reads_tokens_past_the_positions_in_windows(write, tmp_path, length):
    def encode(ids: torch.Tensor, mask: torch.Tensor, _: object = None) -> torch.Tensor:
        assert ids.shape[1] <= 16, "a window is longer than the positions"
        return ids[..., None].float()

    ids = torch.arange(length)[None]
    out = encode_in_windows(encode, ids, torch.ones_like(ids, dtype=torch.bool), 16)
    assert out[0, :, 0].tolist() == list(range(length))


@pytest.mark.parametrize("size", [1, 2, 8, 9])
@pytest.mark.parametrize("length", [1, 7, 8, 9, 15, 64])
def test_t_06_no_window_is_longer_than_the_limit(size, length):
    windows = plan_windows(length, size)
    assert all(0 < window.end - window.start <= size for window in windows)
    kept = [token for window in windows for token in range(window.keep_start, window.keep_end)]
    assert kept == list(range(length))


@pytest.mark.parametrize("positions", [8, 9])
def test_t_06_reads_a_mention_as_long_as_the_window(write, capsys, tmp_path, dataset, positions):
    model = tiny_model(dataset, tmp_path / "m", positions=positions, epochs=1)
    name = "x1 y2 z3 x4 y5 z6 x7"
    title = f"{name} causes tremor."
    marks = [
        (0, len(name), "Chemical", "MESH:D1"),
        (title.index("tremor"), title.index("tremor") + 6, "Disease", "MESH:D2"),
    ]
    entities = [{"start": start, "end": end, "type": type_, "id": id_} for start, end, type_, id_ in marks]
    source = write("a.jsonl", json.dumps({"pmid": "1", "text": title, "entities": entities}) + "\n")
    given = flags(model=model, out=tmp_path / "r.jsonl")
    assert command_line(capsys, "extract", source, *given, "--all-scores")[0] == 0
    status = json.loads((tmp_path / "r.jsonl.status.jsonl").read_text())
    assert status["status"] == "ok"
    assert status["windows"] > 1


VARIANTS = "EGFR T790M/L858R."


@pytest.mark.parametrize("budget", [60, 400], ids=["many pieces", "whole words"])
def test_t_07_entity_spans_do_not_depend_on_tokenization(budget):
    tokenizer = learn_bpe(["EGFR", "T790M", "L858R"] * (1 if budget == 60 else 50), budget)
    example = encoded(tokenizer, VARIANTS, "EGFR", "T790M", "L858R")
    assert shown(example, VARIANTS) == ["EGFR", "T790M", "L858R"]
    spans = zip(example.mention_char_starts, example.mention_char_ends, strict=True)
    assert [VARIANTS[start:end] for start, end in spans] == ["EGFR", "T790M", "L858R"]


@pytest.mark.parametrize("text", [VARIANTS, "c.2369C>T;p.T790M", "(T790M)"])
def test_t_07_a_tagger_can_mark_any_spelling_of_a_variant(text):
    doc = BiorelLanguage()(text)
    start = text.index("T790M")
    assert doc.char_span(start, start + 5) is not None
