"""Reading and writing a graph in K-BERT's format."""

from __future__ import annotations

import pytest

from biorel.errors import InputError
from biorel.formats.spo import read_spo, write_spo
from biorel.records import Triple


def test_reads_back_names(tmp_path, counts):
    triples = [
        Triple("Tim Cook", "CEO", "Apple", "", "", "spo"),
        Triple("Breast", "is_a", "Body\tRegions ", "MESH:D001940", "MESH:D001829", "mesh"),
        Triple("Tim Cook", "CEO", "Apple", "x", "", "spo"),
    ]
    write_spo(tmp_path / "own.spo", triples)
    assert (tmp_path / "own.spo").read_text() == "Tim Cook\tCEO\tApple\nBreast\tis_a\tBody Regions\n"
    read = list(read_spo(tmp_path / "own.spo", counts))
    assert [(one.subject, one.predicate, one.object) for one in read] == [
        ("Tim Cook", "CEO", "Apple"),
        ("Breast", "is_a", "Body Regions"),
    ]
    assert {(one.subject_id, one.object_id, one.source, one.pmids) for one in read} == {("", "", "spo", ())}


@pytest.mark.parametrize(
    ("line", "fields"),
    [("a\tb", "2 fields"), ("a\tb\tc\td", "4 fields"), ("a\t \tc", "2 fields"), ("a b c", "1 field")],
)
def test_names_the_number_of_a_line_that_is_not_a_triple(write, counts, line, fields):
    path = write("own.spo", f"a\tb\tc\n\n{line}\n")
    with pytest.raises(InputError, match=rf"own\.spo:3: {fields} instead of three"):
        list(read_spo(path, counts))


def test_rejects_the_names_of_a_graph_with_articles(write, counts):
    write("graph/triples.parquet", b"")
    path = write("graph/triples.spo", "a\tb\tc\n")
    with pytest.raises(InputError, match="the file has no articles"):
        list(read_spo(path, counts))
