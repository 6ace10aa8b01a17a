"""Counts, their labels, and the balance of rows read, kept and excluded."""

from __future__ import annotations

import pytest

from biorel.counts import Counts, Outcome, Reason, Rows, UnbalancedCountsError
from biorel.errors import BiorelError, InputError
from biorel.formats.documents import read_documents
from biorel.knowledge.ctd import read_curations

PUBTATOR = (
    "1|t|Alphadrug causes tremor.\n1|a|\n1\t0\t9\tAlphadrug\tChemical\tD000001\n1\t17\t23\tnothing\tDisease\tD000002\n"
    "1\tbroken\n1\tCID\tD000001\tD000002\n1\tCID\tD000001\tD000002\n1\tCID\tD000001\t-\n\n1|t|Again.\n1|a|\n\n"
)
JSON_LINES = (
    '{"id": 1, "text": "Alphadrug.", "entities": [{"start": 0, "end": 9, "type": "Chemical", "id": "D1|D000002"}]}\n'
    '{"id": 2}\n{"id": 1, "text": "Again."}\n'
)
BIOC = (
    '{"documents": [{"id": "1", "passages": [{"offset": 0, "text": "Alphadrug.", "infons": {}, "annotations": '
    '[{"id": "a", "infons": {"type": "Chemical"}, "text": "Alphadrug", "locations": [{"offset": 0, "length": 9}]}, '
    '{"id": "b", "infons": {"type": "Chemical"}, "text": "Alphadrug", "locations": []}], "relations": []}], '
    '"relations": [{"id": "r", "infons": {}, "nodes": []}]}, {"id": "", "passages": []}]}'
)
CTD = (
    "# Fields:\n# ChemicalName,ChemicalID,CasRN,GeneSymbol,GeneID,GeneForms,Organism,OrganismID,Interaction,"
    "InteractionActions,PubMedIDs\nA,D000001,,G,1,,,,,affects^binding,1\nA,D000001,,G,1,,,,,affects^binding,\nA\n"
)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        (
            "a.txt",
            PUBTATOR,
            {
                Reason.RECORDS_READ: 2,
                Reason.DOCUMENTS_KEPT: 1,
                Reason.DOCUMENT_REPEATED: 1,
                Reason.ROWS_READ: 6,
                Reason.ROWS_KEPT: 5,
                Reason.MENTIONS_KEPT: 1,
                Reason.CURATIONS_KEPT: 1,
                Reason.CURATION_REPEATED: 1,
            },
        ),
        (
            "a.jsonl",
            JSON_LINES,
            {
                Reason.RECORDS_READ: 3,
                Reason.RECORD_UNUSABLE: 2,
                Reason.DOCUMENTS_KEPT: 1,
                Reason.MENTIONS_KEPT: 2,
            },
        ),
        (
            "a.json",
            BIOC,
            {
                Reason.RECORDS_READ: 2,
                Reason.RECORD_WITHOUT_ID: 1,
                Reason.DOCUMENTS_KEPT: 1,
                Reason.MENTIONS_KEPT: 1,
                Reason.CURATION_WITHOUT_TYPE: 1,
            },
        ),
    ],
)
def test_readers_balance(write, counts, name, content, expected):
    list(read_documents([write(name, content)], counts, []))
    assert {reason: counts[reason] for reason in expected} == expected
    counts.check_balance()


def test_ctd_rows_balance(tmp_path, counts):
    (tmp_path / "CTD_chem_gene_ixns.csv").write_text(CTD)
    assert len(list(read_curations(tmp_path, counts))) == 1
    assert (counts[Reason.CTD_ROWS_READ], counts[Reason.CTD_ROWS_KEPT], counts[Reason.ROW_MALFORMED]) == (3, 1, 1)
    counts.check_balance()


@pytest.mark.parametrize(
    ("added", "message"),
    [
        ({Reason.ANNOTATIONS_READ: 3, Reason.MENTIONS_KEPT: 1, Reason.MENTION_REPEATED: 1}, "mentions: 3 read, but 1"),
        ({Reason.MENTIONS_KEPT: 1}, "mentions: 0 read, but 1 kept"),
        ({Reason.CITATIONS_READ: 2}, "citations: 2 read, but 0 kept and 0 excluded"),
        (
            {Reason.RECORDS_READ: 2, Reason.DOCUMENTS_READ: 2, Reason.DOCUMENTS_KEPT: 2, Reason.DOCUMENTS_WRITTEN: 1},
            "documents of the output: 2 read, but 1 kept",
        ),
    ],
)
def test_an_uncounted_loss_is_a_fault_of_biorel(counts, added, message):
    for reason, count in added.items():
        counts.add(reason, count=count)
    with pytest.raises(UnbalancedCountsError, match=message) as caught:
        counts.check_balance()
    assert not isinstance(caught.value, BiorelError)


def test_labelled_counts_balance_separately(counts):
    annotations = Counts()
    annotations.add(Reason.ROWS_READ, count=2)
    annotations.add(Reason.ROWS_KEPT)
    annotations.add(Reason.ROW_MALFORMED, "a:1")
    counts.include(annotations, "annotations")
    assert counts.by_reason[f"annotations: {Reason.ROW_MALFORMED}"] == 1
    assert counts.examples == {f"annotations: {Reason.ROW_MALFORMED}": ["a:1"]}
    assert counts[Reason.ROW_MALFORMED] == 0
    assert counts.everywhere(Reason.ROW_MALFORMED) == (1, ["a:1"])
    counts.check_balance()
    more = Counts()
    more.add(Reason.ROWS_READ)
    counts.include(more, "annotations")
    with pytest.raises(UnbalancedCountsError, match="rows: 3 read"):
        counts.check_balance()


def test_counts_are_restored_from_a_manifest(counts):
    counts.add(Reason.QUERY_WORDS_NOT_FOUND, "word", 2)
    restored = Counts.of(counts.by_reason, counts.examples)
    assert (restored.by_reason, restored.examples) == (counts.by_reason, counts.examples)
    with pytest.raises(InputError, match="another version"):
        Counts.of({"words": 1}, {})


def test_kept_and_excluded_rows_have_a_kind_that_is_read():
    # a kind without any count of reading cannot balance, so nothing of it may be counted as kept
    read = {reason.rows for reason in Reason if reason.outcome is Outcome.READ}
    kept = {reason.rows for reason in Reason if reason.outcome is Outcome.KEPT}
    assert kept - read == {Rows.DOCUMENTS, Rows.OUTPUT_DOCUMENTS}
