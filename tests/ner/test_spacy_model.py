"""A spaCy model as a tagger: names as people write them, components that break, workers, plain values."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from biorel.ner.spacy_model import SpacyTagger, load_spacy
from biorel.records import Document

spacy = pytest.importorskip("spacy")
Span = pytest.importorskip("spacy.tokens").Span

NAMES = (("zetin", "CHEMICAL"), ("spinal atrophy", "DISEASE"), ("gen1", "GGP"), ("thing", "ENTITY"))
# abbreviation and sentence components of the field broke on each of these
ODD = ["(SBMA) is rare.", "agent targets zetin .\nPygopus2 ( Pygo2 ) acts.", "A ends.  We begin (1+1)EA.", "", "zetin"]


@spacy.Language.component("breaks_on_pygo")
def breaks_on_pygo(doc):
    """A component that a document breaks."""
    if "Pygo2" in doc.text:
        raise ValueError("bracket first")
    return doc


@spacy.Language.component("breaks_always")
def breaks_always(doc):
    """A component that every document breaks."""
    raise IndexError("no sentence")


@spacy.Language.factory("scispacy_linker", default_config={"linker_name": "", "resolve_abbreviations": False})
def scispacy_linker(nlp, name, linker_name, resolve_abbreviations):
    """Stands for scispaCy's linker: sets (id, score), best first; loaded without being asked for, it breaks."""
    if not linker_name:
        raise MemoryError("11 GB")
    best = {"mesh": "D009134", "umls": "C0026847", "go": "GO:0006915"}[linker_name]
    if not Span.has_extension("kb_ents"):
        Span.set_extension("kb_ents", default=[])

    def link(doc):
        for entity in doc.ents:
            entity._.kb_ents = [(best, 0.9), ("D000001", 0.8)] if entity.text == "spinal atrophy" else []
        return doc

    return link


def pipeline(*components: str, language: str = "en"):
    nlp = spacy.blank(language)
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns(
        [{"label": label, "pattern": [{"LOWER": word} for word in name.split()]} for name, label in NAMES]
    )
    for component in components:
        nlp.add_pipe(component)
    return nlp


def documents(texts: list[str]) -> list[Document]:
    return [Document(str(number), text, "") for number, text in enumerate(texts)]


def test_maps_labels_to_types_and_spans_to_characters(counts):
    (found,) = SpacyTagger(pipeline(), counts).tag([Document("7", "Zetin for µ", "spinal atrophy of gen1 and thing")])
    assert [(one.text, one.type) for one in found] == [
        ("Zetin", "Chemical"),
        ("spinal atrophy", "Disease"),
        ("gen1", "Gene"),
        ("thing", "ENTITY"),
    ]
    assert {(one.doc_id, one.entity_id) for one in found} == {("7", None)}


def test_detected_short_forms_get_the_type_of_their_long_forms(tmp_path, monkeypatch, counts):
    from spacy.tokens import Doc, Span

    @spacy.Language.component("abbreviation_detector")
    def _detector(doc):
        spans = [span for span in (doc[4:5], doc[6:7]) if span.text == "SA"]
        for span in spans:
            span._.long_form = doc[1:3]
        doc._.abbreviations = spans
        return doc

    monkeypatch.setitem(sys.modules, "scispacy.abbreviation", ModuleType("scispacy.abbreviation"))
    Doc.set_extension("abbreviations", default=[], force=True)
    Span.set_extension("long_form", default=None, force=True)
    try:
        pipeline().to_disk(tmp_path / "model")
        tagger = SpacyTagger(load_spacy(str(tmp_path / "model"), abbreviations=True), counts)
        (found,) = tagger.tag([Document("1", "The spinal atrophy (SA), SA", "")])
        assert [(one.text, one.type) for one in found][:2] == [("spinal atrophy", "Disease"), ("SA", "Disease")]
    finally:
        Doc.remove_extension("abbreviations")
        Span.remove_extension("long_form")
