"""biorel tag: tables that balance, by every tagger; output whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from biorel.config import Tag, load
from biorel.errors import ConfigError, InputError
from biorel.records import Document, Mention
from biorel.stages import tag
from biorel.tables import read_table
from tests.commands import SAMPLE, command_line, flags, pubtator, read_json

pytest.importorskip("spacy")


@pytest.fixture
def model(tmp_path) -> Path:
    """A spaCy model that knows two names."""
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns(
        [{"label": "CHEMICAL", "pattern": "zetin"}, {"label": "DISEASE", "pattern": "tremor"}]
    )
    nlp.to_disk(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def abstracts(write) -> Path:
    rows = [f'{{"id": "{number}", "title": "On zetin {number}.", "abstract": "No tremor."}}' for number in range(300)]
    return write("abstracts.jsonl", "\n".join(rows) + "\n")


def tagged(out: Path, **options: Any) -> tuple[list[Document], list[Mention], dict[str, Any]]:
    tag.run(Tag.model_validate({"out": out, "link": False, **options}))
    documents = list(read_table(out / "documents.parquet", Document))
    mentions = list(read_table(out / "mentions.parquet", Mention))
    manifest = read_json(out / "manifest.json")
    assert manifest["counts"]["documents read"] == manifest["counts"]["documents written"] == len(documents)
    assert manifest["counts"].get("mentions written", 0) == len(mentions)
    assert manifest["documents_per_second"] > 0
    texts = {document.doc_id: document.text for document in documents}
    assert all(texts[one.doc_id][one.start : one.end] == one.text for one in mentions)
    return documents, mentions, manifest


def test_a_long_file_is_tagged_in_its_order(tmp_path, abstracts, model):
    documents, mentions, _ = tagged(tmp_path / "tags", input=(abstracts,), tagger_model=str(model))
    assert [document.doc_id for document in documents] == [str(number) for number in range(300)]
    assert [(one.doc_id, one.type) for one in mentions] == [
        (str(number), type_) for number in range(300) for type_ in ("Chemical", "Disease")
    ]


def test_S04_two_processes_write_the_same_bytes(tmp_path, abstracts, model):
    for processes in (1, 2):
        tagged(tmp_path / f"by{processes}", input=(abstracts,), tagger_model=str(model), n_process=processes)
    for table in ("documents.parquet", "mentions.parquet"):
        assert (tmp_path / "by1" / table).read_bytes() == (tmp_path / "by2" / table).read_bytes()


def test_imported_annotations_keep_their_ids_and_are_all_told(tmp_path, abstracts, write):
    annotations = write(
        "tags.txt",
        pubtator("7", "On zetin 7.", "No tremor.", [("zetin", "Chemical", "D900001")])
        + pubtator("8", "On  zetin 8.", "No tremor.", [("tremor", "Disease", "D900002"), ("zetin", "Chemical", "-")])
        + pubtator("9000", "Elsewhere zetin.", "", [("zetin", "Chemical", "D900001")]),
    )
    _, mentions, manifest = tagged(tmp_path / "tags", input=(abstracts,), tagger="imported", annotations=(annotations,))
    assert [(one.doc_id, one.text, one.entity_id) for one in mentions] == [
        ("7", "zetin", "MESH:D900001"),
        ("8", "zetin", None),
        ("8", "tremor", "MESH:D900002"),
    ]
    counts = manifest["counts"]
    assert counts["annotated documents"] == 3
    assert counts["annotated documents without a document to lay them over"] == 1
    assert counts["documents without annotations"] == 298
    assert counts["documents annotated on another edition of the text"] == 1


def test_a_dictionary_of_ones_own(tmp_path, abstracts, write):
    names = write("names.tsv", "Tremor\tDisease\n")
    _, mentions, _ = tagged(tmp_path / "tags", input=(abstracts,), tagger="dictionary", lexicon=names)
    assert [one.text for one in mentions] == ["tremor"] * 300


def test_the_sample_with_the_shipped_dictionary_and_linker(tmp_path):
    _, mentions, _ = tagged(tmp_path / "tags", input=(SAMPLE / "abstracts.jsonl",), tagger="dictionary", link=True)
    assert sum(one.entity_id is not None for one in mentions) > len(mentions) / 2 > 0


def test_S01_a_model_that_is_absent_leaves_nothing_behind(tmp_path, abstracts, capsys):
    out = tmp_path / "tags"
    given = flags(tagger_model="en-ner-bc5cdr-none ", out=out)
    code, _, said = command_line(capsys, "tag", abstracts, *given)
    assert code == 2
    assert said.splitlines()[0].startswith("error: spaCy model en_ner_bc5cdr_none is not installed")
    assert said.splitlines()[1].startswith("hint: pip install ")
    assert not out.exists()
    assert not out.with_name("tags.partial").exists()


def test_strict_stops_at_a_malformed_row(tmp_path, write, model):
    source = write("bad.txt", pubtator("1", "On zetin.", "None.").rstrip() + "\n1\tno row\n")
    given = {"input": (source,), "tagger_model": str(model), "out": tmp_path / "tags", "link": False}
    with pytest.raises(InputError, match=r"bad\.txt:3"):
        tag.run(Tag.model_validate({**given, "strict": True}))
    assert not (tmp_path / "tags").exists()
    tag.run(Tag.model_validate(given))


def test_annotations_and_the_imported_tagger_go_together(tmp_path):
    with pytest.raises(ConfigError, match="go together"):
        load(Tag, {"input": ["a.jsonl"], "tagger": "imported", "out": tmp_path})
