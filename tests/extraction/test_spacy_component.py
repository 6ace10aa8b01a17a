"""The spaCy component: entities given and found, storage, worker processes, and its entry point."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import biorel
from biorel.errors import ModelError

spacy = pytest.importorskip("spacy")
component = pytest.importorskip("biorel.extraction.spacy_component")
Span = pytest.importorskip("spacy.tokens").Span
DocBin = pytest.importorskip("spacy.tokens").DocBin

TEXT = "Naloxone reversed the hypotension caused by clonidine."
TEXTS = [TEXT, "Lithium caused tremor.", "", "Nothing was found here."]


def pipeline(**settings):
    nlp = spacy.blank("en")
    nlp.add_pipe("biorel", config={"device": "cpu", **settings})
    return nlp


@pytest.fixture(scope="module")
def nlp():
    return pipeline()


def with_entities(nlp, *entities: tuple[int, str, str]):
    """The Doc of TEXT before the component, with entities of one word: (word, label, id)."""
    doc = nlp.make_doc(TEXT)
    doc.ents = [Span(doc, word, word + 1, label=label, kb_id=id_) for word, label, id_ in entities]
    return doc


def test_tags_a_doc_without_entities(nlp):
    doc = nlp(TEXT)
    assert [(entity.text, entity.label_, entity.kb_id_) for entity in doc.ents] == [
        ("Naloxone", "Chemical", "MESH:D009270"),
        ("hypotension", "Disease", "MESH:D007022"),
        ("clonidine", "Chemical", "MESH:D003000"),
    ]
    assert [mention.entity_id for mention in doc._.mentions] == [entity.kb_id_ for entity in doc.ents]
    expected = biorel.load(device="cpu")(TEXT).relations
    assert [(r.head, r.relation, r.tail, r.evidence) for r in doc._.relations] == [
        (r.head, r.relation, r.tail, r.evidence) for r in expected
    ]
    assert [relation.score for relation in doc._.relations] == pytest.approx([r.score for r in expected], abs=2e-6)


def test_reads_the_entities_of_a_doc_and_their_ids(nlp):
    doc = nlp(with_entities(nlp, (3, "DISEASE", ""), (6, "SIMPLE_CHEMICAL", "D000001")))
    assert [(entity.text, entity.label_, entity.kb_id_) for entity in doc.ents] == [
        ("hypotension", "DISEASE", "MESH:D007022"),
        ("clonidine", "SIMPLE_CHEMICAL", "D000001"),
    ]
    assert [(relation.head.id, relation.tail.id) for relation in doc._.relations] == [("MESH:D000001", "MESH:D007022")]


def test_does_not_tag_if_told_so():
    nlp = pipeline(tag=False)
    doc = nlp(TEXT)
    assert not doc.ents
    assert doc._.relations == doc._.mentions == ()
    linked = nlp(with_entities(nlp, (3, "Disease", ""), (6, "Chemical", "")))
    assert len(linked._.relations) == 1


def test_survives_saving_and_loading(nlp, tmp_path):
    nlp.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")
    docs, expected = list(again.pipe(TEXTS)), list(nlp.pipe(TEXTS))
    assert [doc._.relations for doc in docs] == [doc._.relations for doc in expected]
    assert [len(doc._.relations) for doc in docs] == [1, 1, 0, 0]


def test_two_processes_give_the_results_of_one(nlp):
    expected = list(nlp.pipe(TEXTS * 6))  # a network that has run in this process must not hang in a forked one
    docs = list(nlp.pipe(TEXTS * 6, n_process=2, batch_size=5))
    assert [doc.text for doc in docs] == TEXTS * 6
    for doc, other in zip(docs, expected, strict=True):
        assert doc._.mentions == other._.mentions
        assert [r.evidence[0].sentence_text for r in doc._.relations] == [
            r.evidence[0].sentence_text for r in other._.relations
        ]
        assert [r.score for r in doc._.relations] == pytest.approx([r.score for r in other._.relations], abs=2e-6)


def test_results_survive_the_serialisation_of_docs(nlp):
    doc = nlp(TEXT)
    stored = DocBin(store_user_data=True, docs=[doc]).to_bytes()
    (again,) = DocBin().from_bytes(stored).get_docs(nlp.vocab)
    assert again._.relations == doc._.relations
    assert again._.mentions == doc._.mentions


def test_refuses_an_unknown_model():
    with pytest.raises(ModelError, match="shipped models"):
        pipeline(model="cdrr")


def test_entry_points_name_what_exists():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["spacy_factories"] == {"biorel": f"{component.__name__}:make_component"}
    assert project["entry-points"]["spacy_languages"] == {"biorel": "biorel.ner.spacy_language:BiorelLanguage"}
    assert callable(component.make_component)
