"""biorel tag: tables that balance, by every tagger; output whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from biorel.commands import tag
from biorel.config import load
from biorel.config.tag import Tag
from biorel.counts import Reason
from biorel.errors import ConfigError, InputError
from biorel.records import Document, Mention
from biorel.tables import read_table
from tests.command_runs import (
    SAMPLE,
    command_line,
    flags,
    pubtator,
    read_json,
    sample_documents,
    talkative,
    tiny_model,
)

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
    assert manifest["counts"][Reason.DOCUMENTS_READ] == manifest["counts"][Reason.DOCUMENTS_WRITTEN] == len(documents)
    assert manifest["counts"].get(Reason.MENTIONS_WRITTEN, 0) == len(mentions)
    assert manifest["documents_per_second"] > 0
    texts = {document.doc_id: document.text for document in documents}
    assert all(texts[one.doc_id][one.start : one.end] == one.text for one in mentions)
    return documents, mentions, manifest


def test_tags_a_long_file_in_order(tmp_path, abstracts, model):
    documents, mentions, _ = tagged(tmp_path / "tags", input=(abstracts,), tagger_model=str(model))
    assert [document.doc_id for document in documents] == [str(number) for number in range(300)]
    assert [(one.doc_id, one.type) for one in mentions] == [
        (str(number), type_) for number in range(300) for type_ in ("Chemical", "Disease")
    ]


def test_imported_annotations_keep_their_ids_and_are_all_counted(tmp_path, abstracts, write):
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
    assert counts[Reason.ANNOTATED_DOCUMENTS_READ] == 3
    assert counts[Reason.ANNOTATED_DOCUMENT_UNMATCHED] == 1
    assert counts[Reason.DOCUMENTS_WITHOUT_ANNOTATIONS] == 298
    assert counts[Reason.DOCUMENTS_WITH_OTHER_TEXT] == 1


def test_uses_a_given_dictionary(tmp_path, abstracts, write):
    names = write("names.tsv", "Tremor\tDisease\n")
    _, mentions, _ = tagged(tmp_path / "tags", input=(abstracts,), tagger="dictionary", lexicon=names)
    assert [one.text for one in mentions] == ["tremor"] * 300


def test_tags_the_sample_with_the_shipped_dictionary_and_linker(tmp_path):
    _, mentions, _ = tagged(tmp_path / "tags", input=(SAMPLE / "abstracts.jsonl",), tagger="dictionary", link=True)
    assert sum(one.entity_id is not None for one in mentions) > len(mentions) / 2 > 0


def test_strict_stops_at_a_malformed_row(tmp_path, write, model):
    source = write("bad.txt", pubtator("1", "On zetin.", "None.").rstrip() + "\n1\tno row\n")
    given = {"input": (source,), "tagger_model": str(model), "out": tmp_path / "tags", "link": False}
    with pytest.raises(InputError, match=r"bad\.txt:3"):
        tag.run(Tag.model_validate({**given, "strict": True}))
    assert not (tmp_path / "tags").exists()
    tag.run(Tag.model_validate(given))


def test_annotations_require_the_imported_tagger(tmp_path):
    with pytest.raises(ConfigError, match="go together"):
        load(Tag, {"input": ["a.jsonl"], "tagger": "imported", "out": tmp_path})


@pytest.fixture
def bran(dataset, tmp_path) -> Path:
    """A model folder with a random entity head that predicts many entities."""
    return talkative(tiny_model(dataset, tmp_path / "bran", epochs=1))


def test_tags_with_the_entity_head_of_a_model(tmp_path, bran):
    given = {"input": (SAMPLE / "abstracts.jsonl",), "tagger": "bran", "tagger_model": str(bran)}
    documents, mentions, _ = tagged(tmp_path / "one", **given, consistent=False)
    assert len(documents) == len(sample_documents())
    assert {one.type for one in mentions} == {"Chemical", "Disease", "Gene"}
    assert len({one.doc_id for one in mentions}) > 1
    assert {one.entity_id for one in mentions} == {None}
    again = tagged(tmp_path / "two", **given, consistent=False)[1]
    assert again == mentions
    assert len(tagged(tmp_path / "three", **given)[1]) > len(mentions)


def test_P07_P08_moves_or_reports_misplaced_spans_and_writes_the_rest(tmp_path, write):
    greek = "Dose of 5 µg β-agonist caused tremor."
    source = write("a.txt", "".join(pubtator(*row, "") for row in (("1", greek), ("2", "On ache."), ("3", "Fever."))))
    in_bytes = len(greek[: greek.index("tremor")].encode())
    annotations = write(
        "b.txt",
        f"1|t|{greek}\n1|a|\n1\t{in_bytes}\t{in_bytes + 6}\ttremor\tDisease\tD900001\n\n"
        "2|t|BACKGROUND: On ache.\n2|a|\n2\t15\t19\tache\tDisease\tD900002\n\n"
        "3|t|Other.\n3|a|\n3\t0\t5\tOther\tDisease\tD900003\n\n",
    )
    documents, mentions, manifest = tagged(
        tmp_path / "tags", input=(source,), tagger="imported", annotations=(annotations,)
    )
    assert len(documents) == 3
    assert [(one.doc_id, one.start, one.text) for one in mentions] == [("1", 30, "tremor"), ("2", 3, "ache")]
    assert manifest["counts"][Reason.DOCUMENTS_WITH_OTHER_TEXT] == 2
    assert manifest["counts"][Reason.MENTION_SPAN_MISMATCH] == 1


FAULTS = {
    "missing.jsonl": (None, "no such file"),
    "empty.jsonl": ("", "no record in this file"),
    "bad.jsonl": ('{"id": "1", "title": "On zetin."}\n{\n', "bad.jsonl:2: not JSON"),
    "latin.jsonl": (b'{"id": "1", "title": "caf\xe9"}\n', "latin.jsonl:1: not UTF-8"),
    # the fault comes when the first chunk is written already
    "late.jsonl": ("".join(f'{{"id": "{number}", "title": "zetin"}}\n' for number in range(300)) + "{\n", ":301: "),
}


@pytest.mark.parametrize("name", FAULTS)
def test_unusable_input_gives_one_error_and_no_output(tmp_path, write, model, capsys, name):
    content, expected = FAULTS[name]
    if content is not None:
        write(name, content)
    before = sorted(tmp_path.iterdir())
    given = flags(tagger_model=model, out=tmp_path / "tags")
    code, _, errors = command_line(capsys, "tag", tmp_path / name, "--no-link", *given)
    assert code == 3
    assert errors.startswith("error: ")
    assert expected in errors
    assert len(errors.splitlines()) <= 2
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("fault", ["lexicon", "annotations", "linker"])
def test_reports_what_a_tagger_is_missing(tmp_path, abstracts, capsys, fault):
    taggers = {"lexicon": "dictionary", "annotations": "imported", "linker": "dictionary"}
    given = flags(**{"tagger": taggers[fault], fault: tmp_path / "none", "out": tmp_path / "tags"})
    code, _, errors = command_line(capsys, "tag", abstracts, *given)
    assert code in (3, 4)
    assert errors.startswith("error: ")
    assert str(tmp_path / "none") in errors
    assert not list(tmp_path.glob("tags*"))


def test_keeps_an_existing_output_without_force(tmp_path, abstracts, model, capsys):
    kept = tmp_path / "tags" / "kept.txt"
    kept.parent.mkdir()
    kept.write_text("mine")
    given = flags(tagger_model=model, out=kept.parent)
    code, _, errors = command_line(capsys, "tag", abstracts, "--no-link", *given)
    assert code != 0
    assert "exists already" in errors
    assert "--force" in errors
    assert [path.name for path in kept.parent.iterdir()] == ["kept.txt"]
    # what biorel did not write is not replaced by force
    code, _, _ = command_line(capsys, "tag", abstracts, "--no-link", "--force", *given)
    assert code != 0
    assert kept.read_text() == "mine"


def test_force_replaces_an_existing_output(tmp_path, abstracts, model, write):
    out = tmp_path / "tags"
    tagged(out, input=(abstracts,), tagger_model=str(model))
    one = write("one.jsonl", '{"id": "7", "title": "On zetin."}\n')
    documents, mentions, _ = tagged(out, input=(one,), tagger_model=str(model), force=True)
    assert [one.doc_id for one in documents] == [one.doc_id for one in mentions] == ["7"]
    assert not list(tmp_path.glob("tags?*"))
