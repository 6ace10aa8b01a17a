"""Questions of one document: who is asked about, which spans answer, what is held back."""

from __future__ import annotations

import pytest

from biorel.errors import ConfigError
from biorel.qa.questions import document_questions
from biorel.records import Pair
from tests.builders import mention, relation, schema

INDUCES = schema(relation("induces", "Chemical", "Disease"))
TEMPLATES = {("induces", "tail"): ("What does {entity} induce?",), ("induces", "head"): ("What induces {entity}?",)}
MENTIONS = (
    mention(0, 2, "Chemical", "C1", text="Li"),
    mention(5, 11, "Disease", "D1", text="tremor"),
    mention(20, 27, "Chemical", "C1", text="lithium"),
    mention(30, 36, "Disease", "D1", text="tremor"),
    mention(40, 43, "Disease", "D2", text="AKI"),
    mention(50, 53, "Disease", None, text="???"),
)


def pair(head: str, tail: str, *relations: str, excluded_because: str = "") -> Pair:
    return Pair("1", head, "Chemical", tail, "Disease", relations, excluded_because)


def asked(pairs, mentions=MENTIONS, schema_=INDUCES, templates=TEMPLATES):
    found = document_questions("1", mentions, pairs, schema_, templates)
    return {(question.asks, question.entity_id): question for question in found}


def test_one_question_for_each_entity_and_direction():
    questions = asked([pair("C1", "D1", "induces"), pair("C1", "D2")])
    assert set(questions) == {("tail", "C1"), ("head", "D1"), ("head", "D2")}
    of_drug = questions["tail", "C1"]
    assert of_drug.text == "What does Li induce?"
    assert [(span.start, span.end, span.text, span.entity_id) for span in of_drug.answers] == [
        (5, 11, "tremor", "D1"),
        (30, 36, "tremor", "D1"),
    ]
    assert [span.text for span in questions["head", "D1"].answers] == ["Li", "lithium"]
    assert questions["head", "D2"].answers == ()
    assert of_drug.answer_type == "Disease"
    assert questions["head", "D2"].answer_type == "Chemical"


def test_the_ids_of_questions_are_their_own():
    questions = list(document_questions("1", MENTIONS, [], INDUCES, TEMPLATES))
    assert len({question.question_id for question in questions}) == len(questions) == 3
    assert not any(question.answers for question in questions)


@pytest.mark.parametrize("excluded_because", ["hypernym", "unmapped", "inferred"])
def test_a_pair_held_back_is_neither_right_nor_wrong(excluded_because):
    questions = asked([pair("C1", "D1", "induces"), pair("C1", "D2", excluded_because=excluded_because)])
    assert questions["tail", "C1"].ignored == ("D2",)
    assert questions["head", "D2"].ignored == ("C1",)
    assert questions["head", "D1"].ignored == ()


def test_an_entity_that_is_curated_but_not_mentioned_gives_no_span():
    questions = asked([pair("C1", "D9", "induces", excluded_because="not_mentioned")])
    assert questions["tail", "C1"].answers == ()
    assert ("head", "D9") not in questions


def test_an_id_of_another_type_does_not_answer():
    mentions = (*MENTIONS, mention(60, 66, "Gene", "D1", text="tremor"))
    (first, second) = asked([pair("C1", "D1", "induces")], mentions)["tail", "C1"].answers
    assert (first.start, second.start) == (5, 30)


def test_a_symmetric_relation_is_asked_once_of_each_side():
    binds = schema(relation("binds", "Gene", "Gene", symmetric=True))
    mentions = (mention(0, 2, "Gene", "G1", text="A1"), mention(5, 7, "Gene", "G2", text="B2"))
    pairs = [Pair("1", "G1", "Gene", "G2", "Gene", ("binds",))]
    questions = asked(pairs, mentions, binds, {("binds", "tail"): ("What binds {entity}?",)})
    assert {key: [span.text for span in one.answers] for key, one in questions.items()} == {
        ("tail", "G1"): ["B2"],
        ("tail", "G2"): ["A1"],
    }


def test_a_relation_without_a_template_is_told():
    with pytest.raises(ConfigError, match="no question asks for the head of 'induces'"):
        asked([], templates={("induces", "tail"): TEMPLATES["induces", "tail"]})
