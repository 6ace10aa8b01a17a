"""The dictionary tagger: word borders, longest match, case rules."""

from __future__ import annotations

import pytest

from biorel.errors import InputError
from biorel.records import Document, Name
from biorel.tagging.dictionary import DictionaryTagger, lowered, read_names
from biorel.tagging.lexicon import write_lexicon

LEXICON = [
    ("Aspirin", "Chemical"),
    ("renal failure", "Disease"),
    ("acute renal failure", "Disease"),
    ("ACE", "Chemical"),
    ("As", "Chemical"),
    ("5-HT", "Chemical"),
]


def found(text: str, ledger, lexicon=LEXICON) -> list[tuple[str, str]]:
    tagger = DictionaryTagger(lexicon, ledger)
    (mentions,) = tagger.tag([Document("1", text, "")])
    assert all(text[one.start : one.end] == one.text and one.entity_id is None for one in mentions)
    return [(one.text, one.type) for one in mentions]


def test_the_longest_name_is_found_in_any_case(ledger):
    assert found("ASPIRIN and Acute Renal Failure", ledger) == [
        ("ASPIRIN", "Chemical"),
        ("Acute Renal Failure", "Disease"),
    ]


def test_a_name_is_no_part_of_a_word(ledger):
    assert found("aspirins, Aspirin-like; (aspirin)", ledger) == [("Aspirin", "Chemical"), ("aspirin", "Chemical")]
    assert found("5-HT2 and 5-HT.", ledger) == [("5-HT", "Chemical")]


def test_short_names_stand_as_they_are(ledger):
    assert found("As the ace of ACE, as if", ledger) == [("As", "Chemical"), ("ACE", "Chemical")]


def test_offsets_hold_where_small_letters_are_longer(ledger):
    text = "İİ Aspirin"
    assert len(lowered(text)) == len(text)
    assert found(text, ledger) == [("Aspirin", "Chemical")]


def test_names_that_are_no_names_are_booked(ledger):
    assert found("12 aspirin", ledger, [("12", "Chemical"), (" ", "Disease"), ("aspirin", "Chemical")]) == [
        ("aspirin", "Chemical")
    ]
    assert ledger["lexicon name dropped: too short or without a letter"] == 2
    with pytest.raises(InputError, match="no name"):
        DictionaryTagger([("1", "Chemical")], ledger)


def test_a_lexicon_is_rows_or_a_table(tmp_path, write, ledger):
    rows = write("names.tsv", "aspirin\tdrug\n\npain\tDisease\n")
    assert list(read_names(rows, ledger)) == [("aspirin", "Chemical"), ("pain", "Disease")]
    write_lexicon(tmp_path / "lexicon.parquet", [Name("pain", "Disease", "MESH:D1", "mesh", 0)])
    assert list(read_names(tmp_path / "lexicon.parquet", ledger)) == [("pain", "Disease")]
    with pytest.raises(InputError, match=r"bad\.tsv:2"):
        list(read_names(write("bad.tsv", "a b\tDisease\nno type\n"), ledger))
