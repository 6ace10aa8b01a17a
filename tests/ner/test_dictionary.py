"""The dictionary tagger: word borders, longest match, case rules."""

from __future__ import annotations

import pytest

from biorel.counts import Reason
from biorel.errors import InputError
from biorel.linking.lexicon import write_lexicon
from biorel.ner.dictionary import DictionaryTagger, lowered, read_names
from biorel.records import Document, Name

LEXICON = [
    ("Aspirin", "Chemical"),
    ("renal failure", "Disease"),
    ("acute renal failure", "Disease"),
    ("ACE", "Chemical"),
    ("As", "Chemical"),
    ("5-HT", "Chemical"),
]


def found(text: str, counts, lexicon=LEXICON) -> list[tuple[str, str]]:
    tagger = DictionaryTagger(lexicon, counts)
    (mentions,) = tagger.tag([Document("1", text, "")])
    assert all(text[one.start : one.end] == one.text and one.entity_id is None for one in mentions)
    return [(one.text, one.type) for one in mentions]


def test_finds_the_longest_name_in_any_case(counts):
    assert found("ASPIRIN and Acute Renal Failure", counts) == [
        ("ASPIRIN", "Chemical"),
        ("Acute Renal Failure", "Disease"),
    ]


def test_does_not_match_inside_words(counts):
    assert found("aspirins, Aspirin-like; (aspirin)", counts) == [("Aspirin", "Chemical"), ("aspirin", "Chemical")]
    assert found("5-HT2 and 5-HT.", counts) == [("5-HT", "Chemical")]


def test_short_names_match_with_their_case(counts):
    assert found("As the ace of ACE, as if", counts) == [("As", "Chemical"), ("ACE", "Chemical")]


def test_offsets_are_right_if_lower_case_is_longer(counts):
    text = "İİ Aspirin"
    assert len(lowered(text)) == len(text)
    assert found(text, counts) == [("Aspirin", "Chemical")]


def test_counts_unusable_names(counts):
    assert found("12 aspirin", counts, [("12", "Chemical"), (" ", "Disease"), ("aspirin", "Chemical")]) == [
        ("aspirin", "Chemical")
    ]
    assert counts[Reason.LEXICON_NAME_TOO_SHORT] == 2
    with pytest.raises(InputError, match="no usable name"):
        DictionaryTagger([("1", "Chemical")], counts)


def test_reads_a_lexicon_from_text_or_parquet(tmp_path, write, counts):
    rows = write("names.tsv", "aspirin\tdrug\n\npain\tDisease\n")
    assert list(read_names(rows, counts)) == [("aspirin", "Chemical"), ("pain", "Disease")]
    write_lexicon(tmp_path / "lexicon.parquet", [Name("pain", "Disease", "MESH:D1", "mesh", 0)])
    assert list(read_names(tmp_path / "lexicon.parquet", counts)) == [("pain", "Disease")]
    with pytest.raises(InputError, match=r"bad\.tsv:2"):
        list(read_names(write("bad.tsv", "a b\tDisease\nno type\n"), counts))
