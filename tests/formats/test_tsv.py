"""Writing TSV: the columns, cells with line breaks, and cells that look like formulas."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from biorel.formats.tsv import COLUMNS
from tests.formats.samples import ANNOTATED, RELATIONS, TITLE, span_of, write, write_sample


def cell(tmp_path, name):
    odd = replace(RELATIONS[0], head=replace(RELATIONS[0].head, name=name))
    path = write("tsv", tmp_path / "a.tsv", [(ANNOTATED, [odd])])
    header, row = path.read_text(encoding="utf-8").splitlines()
    assert len(header.split("\t")) == len(row.split("\t")) == len(COLUMNS)
    return row.split("\t")[3]


def test_one_row_a_relation_with_its_strongest_evidence(tmp_path):
    rows = write_sample("tsv", tmp_path / "a.tsv").read_text(encoding="utf-8").splitlines()
    assert tuple(rows[0].split("\t")) == COLUMNS
    assert len(rows) == 1 + len(RELATIONS)
    (start, end), (tail_start, tail_end) = span_of("MESH:D900001"), span_of("OMIM:104300")
    assert rows[1].split("\t") == [
        "900001",
        "MESH:D900001",
        "Chemical",
        "Alphadrug",
        "chemical_induced_disease",
        "OMIM:104300",
        "Disease",
        "tremor",
        "0.875",
        f"{start}-{end}",
        f"{tail_start}-{tail_end}",
        f"0-{len(TITLE)}",
    ]


def test_a_relation_without_evidence_has_empty_cells(tmp_path):
    path = write("tsv", tmp_path / "a.tsv", [(ANNOTATED, [replace(RELATIONS[0], evidence=())])])
    assert path.read_text(encoding="utf-8").splitlines()[1].split("\t")[-3:] == ["", "", ""]


@pytest.mark.parametrize("break_", ["\t", "\n", "\r", "\u2028", "\x85"])
def test_line_breaks_become_spaces(tmp_path, break_):
    assert cell(tmp_path, f"a{break_}b") == "a b"


@pytest.mark.parametrize("name", ["=1+2", "+/-drug", "-drug", "@SUM(A1)"])
def test_formulas_get_an_apostrophe(tmp_path, name):
    assert cell(tmp_path, name) == f"'{name}"


@pytest.mark.parametrize("name", ["(+)-drug", "2-drug", "drug = x", ""])
def test_leaves_other_cells_unchanged(tmp_path, name):
    assert cell(tmp_path, name) == name


def test_pandas_restores_double_quotes(tmp_path):
    relations = [
        replace(RELATIONS[0], head=replace(RELATIONS[0].head, name=name)) for name in ('"speed', 'a "b" c', "d")
    ]
    frame = pd.read_csv(write("tsv", tmp_path / "a.tsv", [(ANNOTATED, relations)]), sep="\t")
    assert frame["head_name"].tolist() == ['"speed', 'a "b" c', "d"]
