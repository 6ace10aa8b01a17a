"""Spans that do not match their text: repaired if that is unambiguous, otherwise dropped and counted."""

from __future__ import annotations

import pytest

from biorel.counts import Reason
from biorel.formats.spans import check_spans, without_repeats
from biorel.records import Document, Mention

TITLE = "Dose of 5 µg β-agonist caused tremor."


def mention(start: int, end: int, text: str) -> Mention:
    return Mention("1", start, end, text, "Disease", None)


def spans(mentions):
    return [(item.start, item.end, item.text) for item in mentions]


def test_keeps_matching_spans_unchanged(counts):
    given = (mention(0, 4, "Dose"), mention(30, 36, "tremor"))
    assert check_spans(Document("1", TITLE, ""), given, counts, "f") == given
    assert dict(counts.by_reason) == {}


def test_P07_offsets_in_utf8_bytes_are_converted(counts):
    given = [mention(32, 38, "tremor"), mention(0, 4, "Dose")]
    checked = check_spans(Document("1", TITLE, ""), given, counts, "f")
    assert spans(checked) == [(30, 36, "tremor"), (0, 4, "Dose")]
    assert dict(counts.by_reason) == {Reason.SPAN_REPAIRED_UTF8: 2}


def test_P07_offsets_in_utf16_units_are_converted(counts):
    document = Document("1", "𝛼𝛼-toxin and toxin", "toxin")
    checked = check_spans(document, [mention(5, 10, "toxin"), mention(15, 20, "toxin")], counts, "f")
    assert spans(checked) == [(3, 8, "toxin"), (13, 18, "toxin")]
    assert dict(counts.by_reason) == {Reason.SPAN_REPAIRED_UTF16: 2}


def test_P07_converts_only_if_every_mention_then_matches(counts):
    document = Document("1", "µ tremor, µ tremor", "")
    checked = check_spans(document, [mention(3, 9, "tremor"), mention(5, 9, "gone")], counts, "f")
    assert checked == ()
    assert counts[Reason.MENTION_SPAN_MISMATCH] == 2


def test_P08_moves_a_mention_that_occurs_once(counts):
    document = Document("1", "Title.", "Drug causes tremor.")
    checked = check_spans(document, [mention(31, 37, "tremor")], counts, "f")
    assert spans(checked) == [(19, 25, "tremor")]
    assert dict(counts.by_reason) == {Reason.SPAN_REPAIRED_UNIQUE_TEXT: 1}


def test_P08_drops_only_a_mention_that_occurs_twice(counts):
    document = Document("1", "Tremor.", "More tremor after tremor by drug.")
    checked = check_spans(document, [mention(14, 20, "tremor"), mention(36, 40, "drug")], counts, "f")
    assert spans(checked) == [(36, 40, "drug")]
    assert counts[Reason.MENTION_SPAN_MISMATCH] == 1


def test_accepts_text_normalised_by_the_source(counts):
    document = Document("1", "TNF-α rose.", "")
    assert spans(check_spans(document, [mention(0, 5, "TNF-a")], counts, "f")) == [(0, 5, "TNF-α")]
    assert dict(counts.by_reason) == {Reason.SPAN_TEXT_NORMALISED: 1}


@pytest.mark.parametrize(
    "bad",
    [
        mention(0, 6, "TNF-a"),
        mention(0, 5, "IL-6a"),
        mention(5, 5, ""),
        mention(4, 2, "x"),
        mention(90, 95, "TNF-b"),
        mention(-3, 2, "TN"),
    ],
)
def test_drops_spans_that_do_not_show_their_text(counts, bad):
    document = Document("1", "TNF-α TN TN rose.", "")
    assert check_spans(document, [bad], counts, "f") == ()
    assert counts[Reason.MENTION_SPAN_MISMATCH] == 1


def test_drops_and_counts_repeated_mentions(counts):
    first, second = mention(0, 4, "Dose"), mention(5, 7, "of")
    assert without_repeats([second, first, second], counts, "f") == (second, first)
    assert dict(counts.by_reason) == {Reason.MENTION_REPEATED: 1, Reason.MENTIONS_KEPT: 2}
