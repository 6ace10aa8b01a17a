"""Where sentences begin."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biorel.text.sentences import sentence_index, sentence_span, sentence_starts


def _split(text: str, title_length: int = 0, spans: tuple[tuple[int, int], ...] = ()) -> list[str]:
    starts = sentence_starts(text, title_length, spans)
    return [text[start:end] for start, end in pairwise([*starts, len(text)])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It fell. The dose rose.", ["It fell. ", "The dose rose."]),
        ("Did it? Yes! 5 mg did.", ["Did it? ", "Yes! ", "5 mg did."]),
        ('He said "stop." Then he left.', ['He said "stop." ', "Then he left."]),
        ("It fell (slowly.) The dose rose.", ["It fell (slowly.) ", "The dose rose."]),
        ("It fell. (The dose rose.)", ["It fell. ", "(The dose rose.)"]),
        ("It fell.  Ωmega rose.", ["It fell.  ", "Ωmega rose."]),
        ("RESULTS\nIt fell", ["RESULTS\n", "It fell"]),
        ("It fell.\n\n  it rose", ["It fell.\n\n  ", "it rose"]),
    ],
)
def test_a_stop_a_space_and_a_beginning_are_a_border(text: str, expected: list[str]) -> None:
    assert _split(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "A dose of 0.5 mg was given",
        "It fell. and rose",
        "Toxins, e.g. Botulinum toxin",
        "Verga et al. 2018 found it",
        "See Fig. 2 and Ref. 3 for it",
        "The group of J. Smith found it",
        "Cells of S. Aureus grew",
        "A vs. B",
        "It fell.",
        "It fell. ",
        "It fell.\n",
        "",
    ],
)
def test_no_border(text: str) -> None:
    assert sentence_starts(text, 0) == (0,)


def test_the_abstract_begins_a_sentence_whatever_ends_the_title() -> None:
    assert _split("Effects of dose it fell", len("Effects of dose")) == ["Effects of dose ", "it fell"]
    assert _split("Effects. It fell", len("Effects.")) == ["Effects. ", "It fell"]
    assert _split("Only a title ", len("Only a title")) == ["Only a title "]
    assert _split(" only an abstract", 0) == [" only an abstract"]


def test_blanks_before_the_abstract_are_no_sentence() -> None:
    assert _split("Effects.   It fell", len("Effects.")) == ["Effects.   ", "It fell"]
    assert _split("Effects   ", len("Effects")) == ["Effects   "]


def test_d06_a_border_inside_an_entity_is_no_border() -> None:
    text = "Drug A reduced P. syringae pv. tabaci growth. It worked."
    start = text.index("P. syringae")
    span = (start, start + len("P. syringae pv. tabaci"))
    assert _split(text, 0, (span,)) == ["Drug A reduced P. syringae pv. tabaci growth. ", "It worked."]
    # the neighbour: an abbreviation that no rule knows
    text = "Drug A reduced B. xyzq. Tabaci growth. It worked."
    span = (text.index("B."), text.index(" growth"))
    assert len(_split(text)) == 3
    starts = sentence_starts(text, 0, (span,))
    assert starts == (0, text.index("It worked"))
    assert sentence_index(starts, span[0]) == sentence_index(starts, span[1] - 1) == 0


def test_d06_a_border_at_the_edge_of_an_entity_stays() -> None:
    text = "It fell. Aspirin. Rats grew."
    begin = text.index("Aspirin")
    end = text.index("Rats")
    assert sentence_starts(text, 0, ((begin, begin + 8),)) == (0, begin, end)
    assert sentence_starts(text, 0, ((begin, end),)) == (0, begin, end)
    assert sentence_starts(text, 0, ((begin, end + 1),)) == (0, begin)


def test_a_sentence_is_found_by_any_of_its_characters() -> None:
    starts = (0, 9, 20)
    assert [sentence_index(starts, offset) for offset in (0, 8, 9, 19, 20, 99)] == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [(2, 3, (0, 9)), (2, 10, (0, 20)), (10, 2, (0, 20)), (25, 21, (20, 30)), (9, 9, (9, 20)), (0, 29, (0, 30))],
)
def test_the_sentences_around_two_places(first: int, last: int, expected: tuple[int, int]) -> None:
    assert sentence_span((0, 9, 20), 30, first, last) == expected


TEXTS = st.text(alphabet="aAΒ19.!? \n()\"'e.g", max_size=40)


@given(TEXTS, TEXTS, st.lists(st.tuples(st.integers(0, 80), st.integers(1, 12)), max_size=3))
@settings(max_examples=200, deadline=None)
def test_sentences_tile_the_text_and_leave_mentions_whole(
    title: str, abstract: str, places: list[tuple[int, int]]
) -> None:
    text = f"{title} {abstract}"
    spans = [(start, start + size) for start, size in places if start + size <= len(text)]
    starts = sentence_starts(text, len(title), spans)
    assert starts[0] == 0
    assert all(one < other for one, other in pairwise(starts))
    assert all(start < len(text) for start in starts)
    assert not [(start, span) for start in starts for span in spans if span[0] < start < span[1]]
    for start, end in spans:
        begin, stop = sentence_span(starts, len(text), start, end - 1)
        assert begin <= start < end <= stop
