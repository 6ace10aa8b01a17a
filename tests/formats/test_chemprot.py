"""ChemProt's and DrugProt's three files."""

from __future__ import annotations

import pytest

from biorel.counts import Reason
from biorel.errors import InputError
from biorel.formats.chemprot import locate, read_chemprot
from biorel.records import Curation, Document
from tests.builders import read_and_lost

ABSTRACTS = "900001\tAlphadrug and GEN1.\tAlphadrug blocks GEN1.\n900002\tOther.\tNothing.\n"
ENTITIES = (
    "900002\tT1\tCHEMICAL\t0\t5\tOther\n"
    "900001\tT1\tCHEMICAL\t0\t9\tAlphadrug\n"
    "900001\tT2\tGENE-Y\t14\t18\tGEN1\n"
    "900001\tT3\tCHEMICAL\t20\t29\tAlphadrug\n"
    "900001\tT4\tGENE-N\t37\t41\tGEN1\n"
)
DRUGPROT = "900001\tINHIBITOR\tArg1:T3\tArg2:T4\n"
CHEMPROT = "900001\tCPR:4\tY \tINHIBITOR\tArg1:T3\tArg2:T4\n"


@pytest.fixture
def read(write, counts):
    def _read(abstracts=ABSTRACTS, entities=ENTITIES, relations=DRUGPROT):
        related = write("relations.tsv", relations) if relations is not None else None
        return list(
            read_chemprot(write("abstracts.tsv", abstracts), write("entities.tsv.gz", entities), related, counts)
        )

    return _read


@pytest.mark.parametrize(("relations", "word"), [(DRUGPROT, "INHIBITOR"), (CHEMPROT, "CPR:4")])
def test_each_annotation_is_a_separate_entity(read, counts, relations, word):
    first, second = read(relations=relations)
    assert first.document == Document("900001", "Alphadrug and GEN1.", "Alphadrug blocks GEN1.")
    assert [(mention.text, mention.type, mention.entity_id) for mention in first.mentions] == [
        ("Alphadrug", "Chemical", "LOCAL:T1"),
        ("GEN1", "Gene", "LOCAL:T2"),
        ("Alphadrug", "Chemical", "LOCAL:T3"),
        ("GEN1", "Gene", "LOCAL:T4"),
    ]
    assert first.curations == (Curation("900001", "Chemical", "LOCAL:T3", word, "Gene", "LOCAL:T4"),)
    assert [mention.text for mention in second.mentions] == ["Other"]
    assert read_and_lost(counts) == {
        Reason.ANNOTATIONS_READ: 5,
        Reason.DOCUMENTS_READ: 2,
        Reason.RELATION_ROWS_READ: 1,
    }


def test_spans_hold_in_the_text(read):
    for annotated in read():
        for mention in annotated.mentions:
            assert annotated.document.text[mention.start : mention.end] == mention.text


def test_a_set_without_relations_has_no_curations(read):
    assert [annotated.curations for annotated in read(relations=None)] == [(), ()]


def test_arguments_are_identified_by_name_not_by_order(read):
    first, _ = read(relations="900001\tINHIBITOR\tArg2:T4\tArg1:T3\n")
    assert first.curations[0].head_id == "LOCAL:T3"


def test_counts_rows_that_belong_to_no_document(read, counts):
    read(
        abstracts=ABSTRACTS + "broken\n" + "900001\tAgain.\t\n",
        entities=ENTITIES + "900009\tT1\tCHEMICAL\t0\t1\tx\n900001\tT5\tCHEMICAL\t0\n"
        "900001\tT6\tCHEMICAL\tx\t9\tAlphadrug\n900001\tT1\tCHEMICAL\t0\t9\tAlphadrug\n"
        "900001\tT7\tCHEMICAL\t1\t4\tabc\n",
        relations=DRUGPROT + "900001\tINHIBITOR\tArg1:T3\tArg2:T99\n900008\tX\tArg1:T1\tArg2:T2\n900001\tX\n",
    )
    assert read_and_lost(counts) == {
        Reason.ANNOTATION_NAME_REPEATED: 1,
        Reason.ANNOTATION_WITHOUT_OFFSETS: 1,
        Reason.ANNOTATION_WITHOUT_DOCUMENT: 1,
        Reason.ANNOTATIONS_READ: 9,
        Reason.DOCUMENTS_READ: 3,
        Reason.DOCUMENT_REPEATED: 1,
        Reason.ROW_MALFORMED: 3,
        Reason.MENTION_SPAN_MISMATCH: 1,
        Reason.CURATION_ARGUMENT_NOT_ANNOTATED: 1,
        Reason.CURATION_WITHOUT_DOCUMENT: 1,
        Reason.RELATION_ROWS_READ: 3,
    }


def test_keeps_tabs_in_abstracts_and_mentions(read):
    (annotated,) = read("1\tT.\ta\tb gamma\n", "1\tT1\tCHEMICAL\t3\t6\ta\tb\n1\tT2\tCHEMICAL\t7\t12\tgamma\n", None)
    assert [mention.text for mention in annotated.mentions] == ["a\tb", "gamma"]


def test_J03_no_abstract_is_an_error(read):
    with pytest.raises(InputError, match=r"abstracts\.tsv: the file has no abstracts"):
        read(abstracts="\n")


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (
            ["drugprot_development_abstracs.tsv.gz", "drugprot_development_entities.tsv.gz"],
            ["drugprot_development_abstracs.tsv.gz", "drugprot_development_entities.tsv.gz", None],
        ),
        (
            [
                "chemprot_test_abstracts_gs.tsv",
                "chemprot_test_entities_gs.tsv",
                "chemprot_test_gold_standard.tsv",
                "chemprot_test_relations_gs.tsv",
                "Readme.pdf",
            ],
            ["chemprot_test_abstracts_gs.tsv", "chemprot_test_entities_gs.tsv", "chemprot_test_relations_gs.tsv"],
        ),
    ],
)
def test_the_three_files_are_found_by_their_names(write, tmp_path, names, found):
    for name in names:
        write(name, "")
    assert [path and path.name for path in locate(tmp_path)] == found


def test_rejects_several_sets_in_one_folder(write, tmp_path):
    for split in ("training", "development"):
        for kind in ("abstracts", "entities", "relations"):
            write(f"chemprot_{split}_{kind}.tsv", "")
    with pytest.raises(InputError, match=r"several sets of files: chemprot_development_abstracts\.tsv, chemprot_tr"):
        locate(tmp_path)


@pytest.mark.parametrize("names", [[], ["x_abstracts.tsv"], ["x_entities.tsv", "x_relations.tsv"]])
def test_rejects_an_incomplete_set(write, tmp_path, names):
    for name in names:
        write(name, "")
    with pytest.raises(InputError, match="no ChemProt or DrugProt files"):
        locate(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        locate(tmp_path / "absent")
