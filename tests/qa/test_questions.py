"""The questions of a document, and their templates."""

from __future__ import annotations

import tomllib

import pytest

from biorel.errors import ConfigError, InputError
from biorel.qa.questions import SIDES, document_questions, question_text, read_templates, sample_unanswerable
from biorel.records import Pair
from tests.builders import RESOURCES, mention, relation, schema

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


def test_one_question_for_each_entity_and_side():
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


def test_question_ids_are_unique():
    questions = list(document_questions("1", MENTIONS, [], INDUCES, TEMPLATES))
    assert len({question.question_id for question in questions}) == len(questions) == 3
    assert not any(question.answers for question in questions)


@pytest.mark.parametrize("excluded_because", ["hypernym", "unmapped", "inferred"])
def test_partners_of_held_back_pairs_are_ignored(excluded_because):
    questions = asked([pair("C1", "D1", "induces"), pair("C1", "D2", excluded_because=excluded_because)])
    assert questions["tail", "C1"].ignored == ("D2",)
    assert questions["head", "D2"].ignored == ("C1",)
    assert questions["head", "D1"].ignored == ()


def test_a_curated_but_unmentioned_entity_has_no_span():
    questions = asked([pair("C1", "D9", "induces", excluded_because="not_mentioned")])
    assert questions["tail", "C1"].answers == ()
    assert ("head", "D9") not in questions


def test_an_id_of_another_type_is_not_an_answer():
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


def test_rejects_a_relation_without_a_template():
    with pytest.raises(ConfigError, match="no question template asks for the head of 'induces'"):
        asked([], templates={("induces", "tail"): TEMPLATES["induces", "tail"]})


def test_sampling_keeps_answerable_questions_and_follows_the_id():
    questions = list(document_questions("1", MENTIONS, [pair("C1", "D1", "induces")], INDUCES, TEMPLATES))
    assert sample_unanswerable(questions, 1.0) == tuple(questions)
    assert sample_unanswerable(questions, 0.0) == tuple(question for question in questions if question.answers)
    assert sample_unanswerable(questions[2:], 0.5) == sample_unanswerable(questions, 0.5)[2:]


@pytest.fixture(scope="module")
def shipped():
    return read_templates(sorted((RESOURCES / "questions").glob("*.toml")))


@pytest.mark.parametrize("schema", sorted(path.stem for path in (RESOURCES / "relations").glob("*.toml")))
def test_every_shipped_relation_has_a_template_for_both_sides(schema, shipped):
    relations = tomllib.loads((RESOURCES / "relations" / f"{schema}.toml").read_text())["relation"]
    asked = {question_text(shipped, relation["name"], side, "X 1") for relation in relations for side in SIDES}
    assert all("X 1" in question and question.endswith("?") for question in asked)
    assert len(asked) == 2 * len(relations)


def test_shipped_templates_are_distinct(shipped):
    texts = [text for texts in shipped.values() for text in texts]
    assert len(texts) == len(set(texts))


def test_the_key_chooses_among_all_texts_of_a_template(shipped):
    texts = {question_text(shipped, "chemical_induced_disease", "tail", "lithium", str(key)) for key in range(50)}
    assert len(texts) == 3
    once, again = (question_text(shipped, "chemical_induced_disease", "tail", "lithium", "7") for _ in range(2))
    assert once == again


def test_a_name_with_braces_is_inserted_verbatim(shipped):
    assert "N{entity}M" in question_text(shipped, "chemical_induced_disease", "tail", "N{entity}M")


def test_a_later_template_file_overrides_an_earlier_one(write):
    first = write("a.toml", '[[question]]\nrelation = "r"\nasks = "tail"\ntexts = ["A {entity}?"]\n')
    second = write("b.toml", '[[question]]\nrelation = "r"\nasks = "tail"\ntexts = ["B {entity}?"]\n')
    assert question_text(read_templates([first, second]), "r", "tail", "x") == "B x?"


def test_template_file_with_a_byte_order_mark(write):
    path = write("a.toml", '\ufeff[[question]]\nrelation = "r"\nasks = "tail"\ntexts = ["A {entity}?"]\n')
    assert question_text(read_templates([path]), "r", "tail", "x") == "A x?"


def test_the_error_for_a_missing_template_lists_the_relations_with_one(shipped):
    with pytest.raises(ConfigError, match="no question template asks for the head of 'nothing'") as error:
        question_text(shipped, "nothing", "head", "x")
    assert "chemical_induced_disease" in error.value.hint


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("question = 3", "question"),
        ("[[question]\n", "not TOML"),
        ('[[question]]\nrelation = "r"\nasks = "both"\ntexts = ["{entity}"]', "asks"),
        ('[[question]]\nrelation = "r"\nasks = "tail"\ntexts = []', "texts"),
        ('[[question]]\nrelation = "r"\nasks = "tail"\ntexts = ["What?"]', "must contain {entity} exactly once"),
        ("", "question"),
        (f"question = {'[' * 5000}", "not TOML"),
    ],
)
def test_rejects_a_file_that_is_not_a_list_of_templates(write, content, fault):
    with pytest.raises((ConfigError, InputError), match=fault.replace("{", r"\{")) as error:
        read_templates([write("t.toml", content)])
    assert "t.toml" in error.value.message


def test_rejects_a_missing_template_file(tmp_path):
    with pytest.raises(InputError, match=r"t\.toml: No such file"):
        read_templates([tmp_path / "t.toml"])
