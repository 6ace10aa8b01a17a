"""Injection of triples into a document as branches of tokens."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from biorel.knowledge.graph import Graph, find_names
from biorel.knowledge.inject import LONGEST_BRANCH, NAMES, Injector
from biorel.records import Triple
from tests.builders import example

TEXT = "ab cd ab ef"
WORDS = ["[PAD]", "[UNK]", "is", "a", "dye", "of", "long"]


@pytest.fixture
def tokenizer() -> Tokenizer:
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))  # noqa: S106 (no password)
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return made


def document():
    """`TEXT` with one token per character, two mentions of the first entity and one of the second."""
    return example(tokens=[1] * len(TEXT), entities=[("Chemical", [(0, 2), (6, 8)]), ("Disease", [(3, 5)])])


def test_a_branch_is_anchored_to_all_mentions_of_its_entity(tokenizer):
    graph = Graph([Triple("red", "is_a", "dye", "MESH:0", "", "mesh")])
    injected = Injector(graph, tokenizer, 2)(document(), TEXT)
    assert injected.branch_tokens == ((2, 3, 4),)
    assert injected.branch_anchors == ((0, 1, 6, 7),)


def test_looks_up_an_entity_with_an_unknown_id_by_its_name(tokenizer):
    graph = Graph([Triple("CD", "of", "dye", "", "", "spo"), Triple("cd", "of", "long", "", "", "spo")])
    injected = Injector(graph, tokenizer, 2)(document(), TEXT)
    assert injected.branch_tokens == ((5, 4), (5, 6))
    assert injected.branch_anchors == ((3, 4), (3, 4))


def test_a_document_without_known_entities_is_unchanged(tokenizer):
    assert Injector(Graph([]), tokenizer, 2)(document(), TEXT) == document()


def test_truncates_a_long_object(tokenizer):
    graph = Graph([Triple("red", "of", "long " * 99, "MESH:0", "", "mesh")])
    injected = Injector(graph, tokenizer, 1)(document(), TEXT)
    assert injected.branch_tokens == ((5, *[6] * (LONGEST_BRANCH - 1)),)


def test_injection_by_names_ignores_the_entities(tokenizer):
    graph = Graph([Triple("b cd", "of", "dye", "", "", "spo"), Triple("cd ab", "of", "dye", "MESH:0", "", "mesh")])
    inject = Injector(graph, tokenizer, 1, NAMES)
    annotated, bare = inject(document(), TEXT), inject(example(tokens=[1] * len(TEXT)), TEXT)
    assert annotated.branch_anchors == bare.branch_anchors == ((3, 4, 5, 6, 7),)
    assert annotated.branch_tokens == bare.branch_tokens == ((5, 4),)


def test_names_are_found_whole_longest_first_and_never_within_another():
    names = {"heart attack", "heart", "attack", "tack", "of"}
    text = "Heart  attack, heart of an attacker: attack"
    assert [text[start:end] for start, end in find_names(text, names)] == ["Heart  attack", "heart", "attack"]
