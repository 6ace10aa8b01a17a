"""export: a model folder to ONNX, relations to every format, and its errors."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from pydantic import ValidationError

from biorel.commands import export
from biorel.config.export import Export
from biorel.counts import Reason
from biorel.dataset.labels import ner_labels
from biorel.dataset.pair_features import FEATURES
from biorel.errors import ConfigError, InputError, ModelError, OutputError
from biorel.formats.bioc.reader import read_bioc
from biorel.formats.pubtator import read_pubtator
from biorel.formats.relations import read_relations
from biorel.formats.writers import FORMATS
from biorel.text.tokenizer import learn_bpe
from biorel.training.model_folder import ModelFolder, save_model
from tests.builders import relation, schema, tiny_bran
from tests.formats.samples import ANNOTATED, BARE, DOCUMENT, RELATIONS, write_sample
from tests.formats.samples import write as write_relations


@pytest.fixture
def relations(tmp_path):
    return write_sample("jsonl", tmp_path / "relations.jsonl")


@pytest.fixture
def documents(tmp_path):
    return write_sample("pubtator", tmp_path / "documents.txt")


@pytest.fixture
def model(tmp_path):
    tokenizer = learn_bpe([DOCUMENT.text, DOCUMENT.text], 60)
    labels = schema(relation("treats", "Chemical", "Disease"))
    ner = ner_labels(("Chemical", "Disease"))
    bran = tiny_bran(
        vocabulary=tokenizer.get_vocab_size(), relations=2, ner_labels=len(ner), pair_features=len(FEATURES)
    )
    folder = tmp_path / "model"
    folder.mkdir()
    save_model(folder, ModelFolder(bran, tokenizer, labels, ner, {"treats": 0.5}), {}, "a card")
    return folder


def outputs(tmp_path):
    return sorted(path.name for path in tmp_path.iterdir() if "out" in path.name)


@pytest.mark.parametrize("source", ["jsonl", "parquet"])
@pytest.mark.parametrize("target", ["jsonl", "parquet"])
def test_conversion_keeps_the_relations(tmp_path, counts, source, target):
    given = write_sample(source, tmp_path / "relations")
    out = export.run(Export(relations=given, out=tmp_path / f"out.{target}")).path
    assert out == tmp_path / f"out.{target}"
    assert tuple(read_relations(out, counts)) == RELATIONS


@pytest.mark.parametrize("format_", FORMATS)
def test_an_export_equals_what_extract_would_have_written(tmp_path, relations, documents, format_):
    needed = (documents,) if FORMATS[format_].holds_text else ()
    out = export.run(Export(relations=relations, documents=needed, format=format_, out=tmp_path / "out")).path
    assert out.read_bytes() == write_sample(format_, tmp_path / "expected").read_bytes()
    assert outputs(tmp_path) == ["out"]


def test_the_order_of_the_relations_does_not_matter(tmp_path, counts, documents):
    other = replace(RELATIONS[0], doc_id="900002")
    mixed = write_relations("jsonl", tmp_path / "r.jsonl", [(ANNOTATED, [RELATIONS[0], other, RELATIONS[1]])])
    out = export.run(Export(relations=mixed, documents=(documents,), out=tmp_path / "out.xml")).path
    first, second = read_bioc(out, counts)
    assert (len(first.curations), len(second.curations)) == (2, 1)
    assert second.document == BARE


def test_reports_relations_without_a_document(tmp_path, counts, documents):
    stray = replace(RELATIONS[0], doc_id="900009")
    given = write_relations("jsonl", tmp_path / "r.jsonl", [(ANNOTATED, [stray, RELATIONS[0], stray])])
    config = Export(relations=given, documents=(documents,), out=tmp_path / "out.pubtator")
    made = export.run(config)
    lines = made.summary
    assert [len(item.curations) for item in read_pubtator(made.path, counts)] == [1, 0]
    assert f"{Reason.RELATION_WITHOUT_DOCUMENT}: 2 (900009)" in lines
    assert "relations read: 3" in lines
    assert "relations written: 1" in lines


def test_rejects_relations_of_other_documents_only(tmp_path, documents):
    stray = replace(RELATIONS[0], doc_id="900009")
    given = write_relations("jsonl", tmp_path / "r.jsonl", [(ANNOTATED, [stray])])
    with pytest.raises(InputError, match="no relation belongs to"):
        export.run(Export(relations=given, documents=(documents,), out=tmp_path / "out.xml"))
    assert not outputs(tmp_path)


def test_a_file_without_relations_gives_the_documents(tmp_path, counts, write, documents):
    out = export.run(Export(relations=write("r.jsonl", ""), documents=(documents,), out=tmp_path / "out.txt")).path
    assert [item.document for item in read_pubtator(out, counts)] == [DOCUMENT, BARE]


def test_a_malformed_line_leaves_no_output(tmp_path, write, relations):
    bad = write("bad.jsonl", relations.read_text(encoding="utf-8") + "{}\n")
    with pytest.raises(InputError, match=r"bad\.jsonl:4: "):
        export.run(Export(relations=bad, out=tmp_path / "out.tsv"))
    assert not outputs(tmp_path)


def test_replaces_an_existing_output_only_with_force(tmp_path, write, relations):
    out = write("out.tsv", "precious")
    with pytest.raises(OutputError, match="exists already"):
        export.run(Export(relations=relations, out=out))
    assert out.read_text(encoding="utf-8") == "precious"
    export.run(Export(relations=relations, out=out, force=True))
    assert out.read_text(encoding="utf-8").startswith("doc_id\t")


def test_refuses_to_overwrite_the_input(relations):
    before = relations.read_bytes()
    with pytest.raises(OutputError, match="is an input"):
        export.run(Export(relations=relations, out=relations, force=True))
    assert relations.read_bytes() == before


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"out": "out.xml"}, "needs --documents"),
        ({"out": "out.pubtator"}, "needs --documents"),
        ({"out": "out.tsv", "documents": ("documents.txt",)}, "contains no text"),
        ({"out": "out", "format": "onnx"}, "cannot be exported to ONNX"),
        ({"out": "out.csv"}, "unknown output format"),
    ],
)
def test_rejects_contradicting_flags(tmp_path, monkeypatch, relations, flags, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=message):
        export.run(Export(relations=relations, **flags))
    assert not outputs(tmp_path)


def test_requires_either_a_model_or_relations(relations, tmp_path):
    for flags in ({}, {"model": tmp_path, "relations": relations}):
        with pytest.raises(ValidationError, match="either --model or --relations"):
            Export(out=tmp_path / "out", **flags)


def test_converts_a_model_folder_to_onnx(tmp_path, model):
    pytest.importorskip("onnx")
    out = export.run(Export(model=model, out=tmp_path / "out")).path
    assert {path.name for path in out.iterdir()} == {
        "model.onnx",
        "pair_features.onnx",
        "onnx.json",
        "manifest.json",
        *export.MODEL_FILES,
    }
    for name in export.MODEL_FILES:
        assert (out / name).read_bytes() == (model / name).read_bytes()
    assert json.loads((out / "manifest.json").read_text(encoding="utf-8"))["command"] == "export"
    with pytest.raises(OutputError, match="exists already"):
        export.run(Export(model=model, out=out))
    export.run(Export(model=model, out=out, force=True))


def test_refuses_to_overwrite_the_model_folder(model):
    with pytest.raises(OutputError, match="is the model folder itself"):
        export.run(Export(model=model, out=model, force=True))
    assert (model / "model.safetensors").is_file()


def test_a_damaged_model_folder_leaves_no_output(tmp_path, model):
    (model / "labels.json").unlink()
    with pytest.raises(ModelError):
        export.run(Export(model=model, out=tmp_path / "out"))
    assert not outputs(tmp_path)


@pytest.mark.parametrize("flags", [{"format": "tsv"}, {"documents": ("a.txt",)}])
def test_rejects_options_of_relations_with_a_model(tmp_path, model, flags):
    with pytest.raises(ConfigError):
        export.run(Export(model=model, out=tmp_path / "out", **flags))
