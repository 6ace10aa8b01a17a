"""Templates of questions: the shipped ones cover the shipped schemas; faults name file and place."""

from __future__ import annotations

import tomllib

import pytest

from biorel.errors import ConfigError, InputError
from biorel.qa.templates import SIDES, ask, read_templates
from tests.builders import RESOURCES


@pytest.fixture(scope="module")
def shipped():
    return read_templates(sorted((RESOURCES / "questions").glob("*.toml")))


@pytest.mark.parametrize("schema", sorted(path.stem for path in (RESOURCES / "relations").glob("*.toml")))
def test_every_relation_that_biorel_ships_can_be_asked_both_ways(schema, shipped):
    relations = tomllib.loads((RESOURCES / "relations" / f"{schema}.toml").read_text())["relation"]
    asked = {ask(shipped, relation["name"], side, "X 1") for relation in relations for side in SIDES}
    assert all("X 1" in question and question.endswith("?") for question in asked)
    assert len(asked) == 2 * len(relations)


def test_no_two_relations_ask_with_one_text(shipped):
    texts = [text for texts in shipped.values() for text in texts]
    assert len(texts) == len(set(texts))


def test_the_text_hangs_on_the_key_alone_and_all_are_used(shipped):
    texts = {ask(shipped, "chemical_induced_disease", "tail", "lithium", str(key)) for key in range(50)}
    assert len(texts) == 3
    once, again = (ask(shipped, "chemical_induced_disease", "tail", "lithium", "7") for _ in range(2))
    assert once == again


def test_a_name_with_braces_stays_as_it_is(shipped):
    assert "N{entity}M" in ask(shipped, "chemical_induced_disease", "tail", "N{entity}M")


def test_a_later_file_goes_before(write):
    one = write("a.toml", '[[question]]\nrelation = "r"\nasks = "tail"\ntexts = ["A {entity}?"]\n')
    two = write("b.toml", '[[question]]\nrelation = "r"\nasks = "tail"\ntexts = ["B {entity}?"]\n')
    assert ask(read_templates([one, two]), "r", "tail", "x") == "B x?"


def test_a_mark_of_byte_order_is_no_part_of_the_text(write):
    path = write("a.toml", '\ufeff[[question]]\nrelation = "r"\nasks = "tail"\ntexts = ["A {entity}?"]\n')
    assert ask(read_templates([path]), "r", "tail", "x") == "A x?"


def test_a_relation_without_a_template_is_told(shipped):
    with pytest.raises(ConfigError, match="no question asks for the head of 'nothing'") as error:
        ask(shipped, "nothing", "head", "x")
    assert "chemical_induced_disease" in error.value.hint


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("question = 3", "question"),
        ("[[question]\n", "not TOML"),
        ('[[question]]\nrelation = "r"\nasks = "both"\ntexts = ["{entity}"]', "asks"),
        ('[[question]]\nrelation = "r"\nasks = "tail"\ntexts = []', "texts"),
        ('[[question]]\nrelation = "r"\nasks = "tail"\ntexts = ["What?"]', "does not hold {entity} once"),
        ("", "question"),
        (f"question = {'[' * 5000}", "not TOML"),
    ],
)
def test_a_file_that_holds_no_templates_is_told(write, content, fault):
    with pytest.raises((ConfigError, InputError), match=fault.replace("{", r"\{")) as error:
        read_templates([write("t.toml", content)])
    assert "t.toml" in error.value.message


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(InputError, match=r"t\.toml: No such file"):
        read_templates([tmp_path / "t.toml"])
