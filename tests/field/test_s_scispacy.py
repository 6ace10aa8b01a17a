"""S: names of spaCy and scispaCy models, failing components, workers, linkers."""

from __future__ import annotations

import json
import sys
from types import ModuleType

import pytest

from biorel.counts import Reason
from biorel.errors import ConfigError
from biorel.ner.spacy_model import SpacyTagger, install, load_spacy, model_name
from biorel.ner.taggers import TaggerOptions, open_tagger
from biorel.records import Document
from biorel.text.abbreviations import find_abbreviations
from tests.command_runs import SAMPLE, command_line, flags, read_json_lines
from tests.ner.test_spacy_model import ODD, documents, pipeline


@pytest.mark.parametrize("name", ["en_ner_none_md ", "en-ner-none-md", "\ten_ner_none_md"])
def test_s_01_names_the_command_that_installs_a_missing_model(name):
    assert model_name(name) == "en_ner_none_md"
    with pytest.raises(ConfigError, match="spaCy model en_ner_none_md is not installed") as caught:
        load_spacy(name)
    assert caught.value.hint.startswith("pip install https://")
    assert "en_ner_none_md" in caught.value.hint


def test_s_01_the_command_matches_the_model():
    assert install("en_core_web_sm") == "python -m spacy download en_core_web_sm"


def test_s_01_reports_a_missing_path_as_given():
    with pytest.raises(ConfigError, match="spaCy model models/my-none is not installed") as caught:
        load_spacy("models/my-none ")
    assert "train-tagger" in caught.value.hint


def test_s_01_keeps_hyphens_in_the_name_of_a_folder(tmp_path, counts):
    folder = tmp_path / "my-model"
    pipeline().to_disk(folder)
    tagger = open_tagger("spacy", TaggerOptions(model=f"{folder} "), counts)
    assert [mention.text for mention in tagger.tag([Document("1", "zetin", "")])[0]] == ["zetin"]


def test_s_02_a_failing_component_loses_no_entity(counts):
    found = SpacyTagger(pipeline("breaks_on_pygo"), counts).tag(documents(ODD))
    assert [[mention.text for mention in mentions] for mentions in found] == [[], ["zetin"], [], [], ["zetin"]]
    assert counts[Reason.DOCUMENTS_PARTLY_TAGGED] == 1
    assert "bracket first" in counts.examples[Reason.DOCUMENTS_PARTLY_TAGGED][0]


def test_s_02_reports_a_component_that_always_fails(counts):
    found = SpacyTagger(pipeline("breaks_always"), counts).tag(documents(ODD))
    assert [len(mentions) for mentions in found] == [0, 1, 0, 0, 1]
    assert counts[Reason.DOCUMENTS_PARTLY_TAGGED] == len(ODD)


def test_s_02_counts_a_document_that_no_component_can_read(counts):
    nlp = pipeline()
    nlp.max_length = 20
    found = SpacyTagger(nlp, counts).tag(documents(["zetin", "ACGT" * 10 + " zetin", "zetin"]))
    assert [len(mentions) for mentions in found] == [1, 0, 1]
    assert counts[Reason.DOCUMENTS_NOT_TAGGED] == 1


def test_s_02_a_component_failing_in_a_worker_loses_no_entity(counts):
    found = SpacyTagger(pipeline("breaks_on_pygo"), counts, n_process=2).tag(documents(ODD))
    assert [[mention.text for mention in mentions] for mentions in found] == [[], ["zetin"], [], [], ["zetin"]]
    assert counts[Reason.DOCUMENTS_PARTLY_TAGGED] == 1


def test_s_04_rows_do_not_depend_on_the_number_of_processes(counts):
    texts = [f"Zetin {number} for spinal atrophy" for number in range(20)]
    runs = [SpacyTagger(pipeline(), counts, n_process=processes).tag(documents(texts)) for processes in (1, 2, 1, 2)]
    assert runs[0] == runs[1] == runs[2] == runs[3]
    assert all(len(mentions) == 2 for mentions in runs[0])
    plain = {type(getattr(mention, field)) for mention in runs[1][0] for field in ("start", "end", "text", "type")}
    assert plain == {int, str}


def test_s_05_loads_no_linker_by_default(tmp_path):
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
def test_s_05_loads_the_linker_of_scispacy_on_request(tmp_path, monkeypatch, counts, knowledge_base, expected):
    monkeypatch.setitem(sys.modules, "scispacy", ModuleType("scispacy"))
    monkeypatch.setitem(sys.modules, "scispacy.linking", ModuleType("scispacy.linking"))
    pipeline().to_disk(tmp_path / "model")
    nlp = load_spacy(str(tmp_path / "model"), linker=knowledge_base)
    tagger = SpacyTagger(nlp, counts, knowledge_base=knowledge_base)
    (mentions,) = tagger.tag(documents(["Zetin for spinal atrophy"]))
    assert {mention.text: mention.entity_id for mention in mentions} == {"Zetin": None, "spinal atrophy": expected}


@pytest.mark.parametrize("name", ["en_ner_bc5cdr_md ", "en-ner-bc5cdr-md", " en-core-sci-sm"])
@pytest.mark.parametrize("command", ["tag", "extract"])
def test_s_01_tag_prints_how_to_install_the_model_and_writes_nothing(capsys, write, tmp_path, name, command):
    source = write("a.jsonl", json.dumps({"pmid": "1", "title": "Zetin.", "abstract": "Tremor."}) + "\n")
    given = flags(tagger="spacy", tagger_model=name, out=tmp_path / "out.jsonl")
    code, _, err = command_line(capsys, command, source, *given)
    module = name.strip().replace("-", "_")
    assert code == 2
    assert f"spaCy model {module} is not installed" in err
    assert f"hint: pip install https://s3-us-west-2.amazonaws.com/ai2-s2-scispacy/releases/v0.5.4/{module}" in err
    assert len(err.splitlines()) == 2
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.parametrize("text", [*ODD, "(", ") (A", "A (B) C (D", "( Pygo2 ) Pygopus2 acts", "[SBMA] (is) rare."])
def test_s_02_brackets_define_no_short_form_across_sentences(text):
    expected = {"Pygo2": "Pygopus2"} if "Pygopus2 (" in text else {}
    assert find_abbreviations(text) == expected


@pytest.mark.parametrize("stop", [". ", ".\n", ".  ", "? "])
def test_s_02_a_long_form_stays_within_its_sentence(stop):
    text = f"agent targets spinal{stop}Muscular atrophy ( SMA ) acts. Spinal muscular atrophy (SMA) is rare."
    assert find_abbreviations(text) == {"SMA": "Spinal muscular atrophy"}


@pytest.mark.slow
def test_s_04_one_and_two_processes_tag_twenty_abstracts_the_same_way(capsys, tmp_path):
    rows = read_json_lines(SAMPLE / "abstracts.jsonl")[:20]
    source = tmp_path / "a.jsonl"
    source.write_text(
        "".join(json.dumps({key: row[key] for key in ("pmid", "title", "abstract")}) + "\n" for row in rows)
    )
    written = []
    for number, processes in enumerate((1, 2)):
        out = tmp_path / f"t{number}"
        assert command_line(capsys, "tag", source, *flags(n_process=processes, out=out))[0] == 0
        written.append((out / "mentions.parquet").read_bytes())
    assert written[0] == written[1]


def test_s_05_the_help_states_the_memory_of_the_umls_linker(capsys):
    _, out, _ = command_line(capsys, "tag", "--help")
    assert "umls needs about 11 GB of memory" in " ".join(out.split())
