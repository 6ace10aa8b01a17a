"""Known pairs: ids in one style, a header and comments left out, faults by line."""

from __future__ import annotations

import pytest

from biorel.counts import Reason
from biorel.errors import InputError
from biorel.knowledge.known_pairs import read_known_pairs


def test_rows_are_pairs_of_ids(write, counts):
    path = write(
        "k.tsv.gz", "ChemicalID\tDiseaseID\tPubMedIDs\n# c\nC112297\tD006948\t1|2\nMESH:C112297\tMESH:D006948\n\n"
    )
    assert read_known_pairs(path, counts) == {("MESH:C112297", "MESH:D006948")}


def test_leaves_out_only_rows_of_excluded_articles(write, counts):
    path = write("k.tsv", "D000001\tD000002\t1|2\nD000001\tD000003\t1|3\nD000001\tD000004\nD000001\tD000005\t \n")
    kept = {("MESH:D000001", f"MESH:D00000{number}") for number in (3, 4, 5)}
    assert read_known_pairs(path, counts, {"1", "2"}) == kept
    assert counts[Reason.KNOWN_PAIR_OF_EXCLUDED_ARTICLES] == 1
    assert counts[Reason.KNOWN_PAIRS_READ] == 3


def test_keeps_a_pair_that_another_row_contains(write, counts):
    path = write("k.tsv", "D000001\tD000002\t1\nD000001\tD000002\t9\n")
    assert read_known_pairs(path, counts, {"1"}) == {("MESH:D000001", "MESH:D000002")}


@pytest.mark.parametrize(
    ("content", "fault"),
    [("D000001\n", r"k\.tsv:1: the row has one column"), ("", "no pair of ids"), ("head\ttail\n", "no pair")],
)
def test_rejects_a_file_without_pairs(write, counts, content, fault):
    with pytest.raises(InputError, match=fault):
        read_known_pairs(write("k.tsv", content), counts)


def test_reads_the_rows_of_ctd(shared_data, counts):
    pairs = read_known_pairs(shared_data / "ctd_rows" / "chemical_disease_marker_pmids.tsv.gz", counts)
    assert ("MESH:D008094", "MESH:D014202") in pairs
    assert len(pairs) > 50_000
