"""Writing JSON lines: the exact line, and the round trip."""

from __future__ import annotations

from dataclasses import replace

import pytest

from biorel.counts import Reason
from biorel.formats.relations import read_relations
from biorel.records import Entity, Evidence, Relation
from tests.formats.samples import ANNOTATED, RELATIONS, write, write_sample

LINE = (
    '{"doc_id": "227508", "head": {"id": "MESH:D008750", "type": "Chemical", "name": "α-methyldopa"}, '
    '"relation": "chemical_induced_disease", "tail": {"id": "MESH:D007022", "type": "Disease", "name": "hypotensive"}, '
    '"score": 0.912346, '
    '"evidence": [{"head": [306, 322], "tail": [274, 285], "weight": 0.8, "sentence": [270, 362]}]}\n'
)


def test_a_line_is_one_object_with_rounded_numbers(tmp_path):
    relation = Relation(
        "227508",
        Entity("MESH:D008750", "Chemical", "α-methyldopa"),
        "chemical_induced_disease",
        Entity("MESH:D007022", "Disease", "hypotensive"),
        0.91234567,
        (Evidence((306, 322), (274, 285), 0.80000001, (270, 362)),),
    )
    path = write("jsonl", tmp_path / "a.jsonl", [(ANNOTATED, [relation])])
    assert path.read_text(encoding="utf-8") == LINE


@pytest.mark.parametrize("format_", ["jsonl", "parquet"])
def test_relations_read_back_are_equal(tmp_path, counts, format_):
    path = write_sample(format_, tmp_path / "relations")
    assert tuple(read_relations(path, counts)) == RELATIONS
    assert counts[Reason.RELATIONS_READ] == len(RELATIONS)


@pytest.mark.parametrize("format_", ["jsonl", "parquet"])
def test_a_file_without_relations_is_valid(tmp_path, counts, format_):
    path = write(format_, tmp_path / "relations", [(ANNOTATED, ())])
    assert list(read_relations(path, counts)) == []


def test_a_line_break_in_a_name_does_not_break_the_line(tmp_path, counts):
    odd = replace(RELATIONS[0], head=Entity("MESH:D900001", "Chemical", "a\nb\u2028c"), evidence=())
    path = write("jsonl", tmp_path / "a.jsonl", [(ANNOTATED, [odd])])
    assert list(read_relations(path, counts)) == [odd]


def test_refuses_to_write_a_score_that_is_not_finite(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        write("jsonl", tmp_path / "a.jsonl", [(ANNOTATED, [replace(RELATIONS[0], score=float("nan"))])])
