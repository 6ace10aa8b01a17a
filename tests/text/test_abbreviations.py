"""Definitions of short forms. Fault S-02: a bracket first, a long form across sentences, double spaces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biorel.text.abbreviations import find_abbreviations, long_form


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("We gave methotrexate (MTX) daily.", {"MTX": "methotrexate"}),
        ("Rats with acute renal failure (ARF) died.", {"ARF": "acute renal failure"}),
        ("ARF (acute renal failure) was seen.", {"ARF": "acute renal failure"}),
        ("Spinal and bulbar muscular atrophy [SBMA] is rare.", {"SBMA": "Spinal and bulbar muscular atrophy"}),
        ("Serotonin (5-hydroxytryptamine, 5-HT) was high.", {}),
        ("After 5-hydroxytryptamine (5-HT) it fell.", {"5-HT": "5-hydroxytryptamine"}),
        ("Given cyclosporin A (CsA; 5 mg/kg) orally.", {"CsA": "cyclosporin A"}),
        ("In renal failure (n = 5) and pain (P < 0.05).", {}),
        ("The dose (1991) was low.", {}),
        ("It was high (see below).", {}),
    ],
)
def test_definitions(text, found):
    assert find_abbreviations(text) == found


def test_no_definition_spans_title_and_abstract():
    title = "Effects of acute renal"
    text = f"{title} Failure (ARF) was seen."
    assert find_abbreviations(text) == {"ARF": "acute renal Failure"}
    assert find_abbreviations(text, len(title)) == {}


def test_of_two_definitions_the_first_holds():
    text = "We saw myocardial infarction (MI). Later mitral insufficiency (MI) came."
    assert find_abbreviations(text) == {"MI": "myocardial infarction"}


def test_the_first_letter_must_begin_a_word():
    assert long_form("ARF", "acute renal failure") == "acute renal failure"
    assert long_form("RF", "acute renal failure") == "renal failure"
    assert long_form("CF", "acute failure") == ""
    assert long_form("ARF", "an ARF and failure") != "ARF and failure"


@given(st.text(alphabet="aAbB (5)[].,;- \nß\u0130", max_size=60))
def test_what_is_found_stands_in_the_text(text):
    for short, long in find_abbreviations(text).items():
        assert short in text
        assert long in text
        assert len(long) > len(short)
