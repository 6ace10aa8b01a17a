"""A spaCy model as a tagger: names as people write them, components that break, workers, plain values."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from biorel.errors import ConfigError
from biorel.records import Document
from biorel.tagging import TAGGERS, Options
from biorel.tagging.spacy_model import SpacyTagger, install, load_spacy, model_name

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


def test_labels_become_types_and_spans_characters(ledger):
    (found,) = SpacyTagger(pipeline(), ledger).tag([Document("7", "Zetin for µ", "spinal atrophy of gen1 and thing")])
    assert [(one.text, one.type) for one in found] == [
        ("Zetin", "Chemical"),
        ("spinal atrophy", "Disease"),
        ("gen1", "Gene"),
        ("thing", "ENTITY"),
    ]
    assert {(one.doc_id, one.entity_id) for one in found} == {("7", None)}


@pytest.mark.parametrize("name", ["en_ner_none_md ", "en-ner-none-md", "\ten_ner_none_md"])
def test_S01_a_model_that_is_absent_is_one_line_with_its_command(name):
    assert model_name(name) == "en_ner_none_md"
    with pytest.raises(ConfigError, match="spaCy model en_ner_none_md is not installed") as caught:
        load_spacy(name)
    assert caught.value.hint.startswith("pip install https://")
    assert "en_ner_none_md" in caught.value.hint


def test_S01_the_command_fits_the_model():
    assert install("en_core_web_sm") == "python -m spacy download en_core_web_sm"


def test_S01_a_path_that_leads_nowhere_is_told_as_it_was_given():
    with pytest.raises(ConfigError, match="spaCy model models/my-none is not installed") as caught:
        load_spacy("models/my-none ")
    assert "train-tagger" in caught.value.hint


def test_S01_a_folder_keeps_its_hyphens(tmp_path, ledger):
    folder = tmp_path / "my-model"
    pipeline().to_disk(folder)
    tagger = TAGGERS["spacy"](Options(model=f"{folder} "), ledger)
    assert [one.text for one in tagger.tag([Document("1", "zetin", "")])[0]] == ["zetin"]


def test_S02_a_component_that_fails_costs_its_document_no_entity(ledger):
    found = SpacyTagger(pipeline("breaks_on_pygo"), ledger).tag(documents(ODD))
    assert [[one.text for one in mentions] for mentions in found] == [[], ["zetin"], [], [], ["zetin"]]
    assert ledger["documents tagged without the other components"] == 1
    assert "bracket first" in ledger.examples["documents tagged without the other components"][0]


def test_S02_a_component_that_always_fails(ledger):
    found = SpacyTagger(pipeline("breaks_always"), ledger).tag(documents(ODD))
    assert [len(mentions) for mentions in found] == [0, 1, 0, 0, 1]
    assert ledger["documents tagged without the other components"] == len(ODD)


def test_S02_a_document_that_no_part_of_the_model_reads(ledger):
    nlp = pipeline()
    nlp.max_length = 20
    found = SpacyTagger(nlp, ledger).tag(documents(["zetin", "ACGT" * 10 + " zetin", "zetin"]))
    assert [len(mentions) for mentions in found] == [1, 0, 1]
    assert ledger["documents not tagged: the model failed"] == 1


def test_S02_a_component_that_fails_in_a_worker_costs_no_entity_either(ledger):
    found = SpacyTagger(pipeline("breaks_on_pygo"), ledger, n_process=2).tag(documents(ODD))
    assert [[one.text for one in mentions] for mentions in found] == [[], ["zetin"], [], [], ["zetin"]]
    assert ledger["documents tagged without the other components"] == 1


def test_S04_the_same_rows_whatever_the_number_of_processes(ledger):
    texts = [f"Zetin {number} for spinal atrophy" for number in range(20)]
    runs = [SpacyTagger(pipeline(), ledger, n_process=processes).tag(documents(texts)) for processes in (1, 2, 1, 2)]
    assert runs[0] == runs[1] == runs[2] == runs[3]
    assert all(len(mentions) == 2 for mentions in runs[0])
    plain = {type(getattr(one, field)) for one in runs[1][0] for field in ("start", "end", "text", "type")}
    assert plain == {int, str}


def test_S05_a_linker_is_loaded_by_no_one(tmp_path):
    nlp = pipeline()
    nlp.to_disk(tmp_path / "model")
    config = (tmp_path / "model" / "config.cfg").read_text()
    config = config.replace('pipeline = ["entity_ruler"]', 'pipeline = ["entity_ruler","scispacy_linker"]')
    config += '\n[components.scispacy_linker]\nfactory = "scispacy_linker"\n'
    (tmp_path / "model" / "config.cfg").write_text(config)
    assert load_spacy(str(tmp_path / "model")).pipe_names == ["entity_ruler"]


@pytest.mark.parametrize(
    ("knowledge_base", "expected"),
    [("mesh", "MESH:D009134"), ("umls", "UMLS:C0026847"), ("go", "GO:0006915")],
)
def test_S05_scispacys_linker_when_it_is_asked_for(tmp_path, monkeypatch, ledger, knowledge_base, expected):
    monkeypatch.setitem(sys.modules, "scispacy", ModuleType("scispacy"))
    monkeypatch.setitem(sys.modules, "scispacy.linking", ModuleType("scispacy.linking"))
    pipeline().to_disk(tmp_path / "model")
    nlp = load_spacy(str(tmp_path / "model"), linker=knowledge_base)
    tagger = SpacyTagger(nlp, ledger, knowledge_base=knowledge_base)
    (mentions,) = tagger.tag(documents(["Zetin for spinal atrophy"]))
    assert {mention.text: mention.entity_id for mention in mentions} == {"Zetin": None, "spinal atrophy": expected}


def test_G01_without_spacy_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(ConfigError, match="spacy is not installed") as caught:
        load_spacy("en_core_sci_sm")
    assert caught.value.hint.startswith("pip install")


def test_G01_without_scispacy_its_detector_is_asked_for_with_a_command(tmp_path, monkeypatch):
    pipeline().to_disk(tmp_path / "model")
    monkeypatch.setitem(sys.modules, "scispacy", None)
    monkeypatch.setitem(sys.modules, "scispacy.abbreviation", None)
    with pytest.raises(ConfigError, match="scispacy is not installed") as caught:
        load_spacy(str(tmp_path / "model"), abbreviations=True)
    assert "biorel[scispacy]" in caught.value.hint


def test_short_forms_of_the_detector_have_the_type_of_their_long_forms(tmp_path, monkeypatch, ledger):
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
        tagger = SpacyTagger(load_spacy(str(tmp_path / "model"), abbreviations=True), ledger)
        (found,) = tagger.tag([Document("1", "The spinal atrophy (SA), SA", "")])
        assert [(one.text, one.type) for one in found][:2] == [("spinal atrophy", "Disease"), ("SA", "Disease")]
    finally:
        Doc.remove_extension("abbreviations")
        Span.remove_extension("long_form")
