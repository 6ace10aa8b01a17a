"""Writing PubTator: the exact rows, and the round trip through our reader."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from biorel.counts import Counts
from biorel.errors import OutputError
from biorel.formats.pubtator import read_pubtator
from biorel.records import Annotated, Curation, Document, Entity, Mention
from tests.formats.samples import ABSTRACT, ANNOTATED, BARE, MENTIONS, RELATIONS, TITLE, relation, write, write_sample
from tests.formats.strategies import documents

LINES = f"""\
900001|t|{TITLE}
900001|a|{ABSTRACT}
900001\t0\t9\tAlphadrug\tChemical\tD900001
900001\t14\t27\t"β-blocker" 𝛼\tChemical\t-
900001\t32\t38\ttremor\tDisease\tOMIM:104300
900001\t59\t81\tlung and liver tumours\tDisease\tD900003|-|D900004
900001\t83\t85\tAR\tGene\t367
900001\t87\t90\t367\tVariant\tc|SUB|G|12|A
900001\t87\t90\t367\tVariant\tc|SUB|G|12|C
900001\tchemical_induced_disease\tD900001\tOMIM:104300\t0.875
900001\tchemical_induced_disease\tD900001\tD900004\t0.75
900001\tgene disease\t367\tD900003\t0.5

900002|t|Nothing here.
900002|a|

"""


def curations(relations):
    return tuple(Curation(one.doc_id, "", one.head.id, one.relation, "", one.tail.id) for one in relations)


def test_the_file_is_an_annotated_copy(tmp_path):
    assert write_sample("pubtator", tmp_path / "a.txt").read_text(encoding="utf-8") == LINES


def test_reads_back_what_it_wrote(tmp_path, counts):
    first, second = read_pubtator(write_sample("pubtator", tmp_path / "a.txt"), counts)
    assert first == replace(ANNOTATED, curations=curations(RELATIONS))
    assert second == Annotated(BARE)
    assert not [reason for reason in counts.by_reason if "repaired" in reason or "dropped" in reason]


def test_line_breaks_in_a_text_do_not_change_offsets(tmp_path, counts):
    document = Document("1", "A\tb\r\nc.", "Drug\nX here\0.")
    mentions = (Mention("1", 8, 14, "Drug\nX", "Chemical", "MESH:D900001"),)
    path = write("pubtator", tmp_path / "a.txt", [(Annotated(document, mentions), ())])
    (found,) = read_pubtator(path, counts)
    assert found.document == Document("1", "A b  c.", "Drug X here .")
    assert found.mentions == (replace(mentions[0], text="Drug X"),)


def test_an_id_that_two_namespaces_share_is_written_in_full(tmp_path, counts):
    gene = Mention("900001", 83, 85, "AR", "Gene", "NCBIGene:104300")
    mentions = (*MENTIONS[:3], gene)
    found = replace(relation("MESH:D900001", "r", "OMIM:104300"), tail=Entity("NCBIGene:104300", "Gene", "AR"))
    path = write("pubtator", tmp_path / "a.txt", [(replace(ANNOTATED, mentions=mentions), [found])])
    (read,) = read_pubtator(path, counts)
    assert read.mentions == mentions
    assert read.curations == curations([found])


def test_an_argument_that_no_mention_names_keeps_its_namespace(tmp_path, counts):
    found = RELATIONS[2]
    path = write("pubtator", tmp_path / "a.txt", [(replace(ANNOTATED, mentions=()), [found])])
    (read,) = read_pubtator(path, counts)
    assert read.curations == curations([found])


@pytest.mark.parametrize("doc_id", ["a|b", "a\tb", "a\nb", " a", ""])
def test_refuses_an_id_that_the_format_cannot_hold(tmp_path, doc_id):
    with pytest.raises(OutputError, match="cannot be written"):
        write("pubtator", tmp_path / "a.txt", [(Annotated(Document(doc_id, "A", "b")), ())])


@given(documents(forbidden="\t\n\r\0"))
def test_any_document_survives_a_round_trip(tmp_path_factory, item):
    annotated, relations = item
    path = write("pubtator", tmp_path_factory.mktemp("any") / "a.txt", [item])
    (found,) = read_pubtator(path, Counts())
    assert found.document == annotated.document
    assert set(found.mentions) == set(annotated.mentions)
    assert set(found.curations) == set(curations(relations))
