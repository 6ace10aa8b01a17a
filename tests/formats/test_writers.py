"""The choice of an output format, and the properties that all writers share."""

from __future__ import annotations

from pathlib import Path

import pytest

from biorel import artifacts
from biorel.commands import export
from biorel.config.export import Export
from biorel.errors import ConfigError, OutputError
from biorel.formats.writers import FORMATS, Format, format_of
from tests.formats.samples import ANNOTATED, RELATIONS, write


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.jsonl", "jsonl"),
        ("a.ndjson", "jsonl"),
        ("a.parquet", "parquet"),
        ("a.b.TSV", "tsv"),
        ("a.pubtator", "pubtator"),
        ("a.txt", "pubtator"),
        ("a.xml", "bioc"),
    ],
)
def test_auto_follows_the_suffix(name, expected):
    assert format_of(Path(name), "auto") == expected


def test_a_chosen_format_wins_over_the_suffix():
    assert format_of(Path("a.tsv"), "bioc") == "bioc"


@pytest.mark.parametrize("name", ["a", "a.csv", "a.jsonl.gz"])
def test_an_unknown_suffix_names_the_choices(name):
    with pytest.raises(ConfigError, match=r"unknown output format|no suffix") as caught:
        format_of(Path(name), "auto")
    assert all(choice in caught.value.hint for choice in FORMATS)


def test_an_unknown_format_names_the_choices():
    with pytest.raises(ConfigError, match="unknown output format 'onnx'"):
        format_of(Path("a.jsonl"), "onnx")


@pytest.mark.parametrize("format_", FORMATS)
def test_an_error_leaves_no_file(tmp_path, format_):
    def fail():
        with artifacts.whole_file(tmp_path / "out") as place, FORMATS[format_].writer(place) as writer:
            writer.write(ANNOTATED.document, ANNOTATED.mentions, RELATIONS)
            raise KeyError(format_)

    with pytest.raises(KeyError):
        fail()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("format_", [name for name, format_ in FORMATS.items() if format_.holds_text])
def test_a_format_with_text_requires_the_document(tmp_path, format_):
    with (
        FORMATS[format_].writer(tmp_path / "out") as writer,
        pytest.raises(ConfigError, match="no documents were given"),
    ):
        writer.write(None, (), RELATIONS)


@pytest.mark.parametrize("format_", [name for name, format_ in FORMATS.items() if not format_.holds_text])
def test_other_formats_write_only_relations(tmp_path, format_):
    with FORMATS[format_].writer(tmp_path / "alone") as writer:
        writer.write(None, (), RELATIONS)
    write(format_, tmp_path / "with", [(ANNOTATED, RELATIONS)])
    assert (tmp_path / "alone").read_bytes() == (tmp_path / "with").read_bytes()


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux")
def test_reports_a_full_disk_in_one_line(format_):
    many = [(ANNOTATED, RELATIONS)] * 500

    def fill():
        with artifacts._as_output_error(Path("out")):
            write(format_, Path("/dev/full"), many)

    with pytest.raises(OutputError, match="No space left"):
        fill()


def test_a_new_format_is_one_line_in_the_table(tmp_path, monkeypatch):
    source = tmp_path / "relations.jsonl"
    source.write_text("")
    monkeypatch.setitem(FORMATS, "rows", Format(FORMATS["tsv"].home, (".rows",)))
    assert format_of(tmp_path / "a.rows", "auto") == format_of(tmp_path / "a", "rows") == "rows"
    out = tmp_path / "out.rows"
    export.run(Export(relations=source, out=out))
    assert out.read_text().startswith("doc_id\t")
