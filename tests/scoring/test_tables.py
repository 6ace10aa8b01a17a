"""Tables in the form of the paper's."""

from __future__ import annotations

from biorel.records import Pair
from biorel.scoring.metrics import evaluate
from biorel.scoring.pairs import ScoredPair
from biorel.scoring.tables import dataset_table, pair_type_title, relation_table, short_name

LABELS = ["chemical_disease:therapeutic", "chemical_gene:increases_activity", "chemical_gene:affects_transport"]


def pair(number: int, say: int | None, gold: int | None, tail_type: str) -> ScoredPair:
    relations = () if gold is None else (LABELS[gold],)
    probabilities = tuple(0.9 if place == say else 0.0 for place in range(3))
    return ScoredPair(Pair(str(number), "C", "Chemical", "X", tail_type, relations), probabilities, 1)


def test_table_7_groups_relations_by_pair_type() -> None:
    pairs = [pair(0, 0, 0, "Disease"), pair(1, 0, None, "Disease"), pair(2, None, 1, "Gene")]
    table = relation_table(evaluate(pairs, LABELS, dict.fromkeys(LABELS, 0.5)))
    assert table.replace("\u00a0", " ") == (
        "| Relation                  |    P |     R |   F1 | Support |\n"
        "|:--------------------------|-----:|------:|-----:|--------:|\n"
        "| Micro                     | 50.0 |  50.0 | 50.0 |       2 |\n"
        "| Macro                     | 50.0 |  50.0 | 33.3 |         |\n"
        "| Macro, F1 of mean P and R |      |       | 50.0 |         |\n"
        "| Chemical / Disease        | 50.0 | 100.0 | 66.7 |       1 |\n"
        "|   therapeutic             | 50.0 | 100.0 | 66.7 |       1 |\n"
        "| Chemical / Gene           |    – |   0.0 |  0.0 |       1 |\n"
        "|   increases_activity      |    – |   0.0 |  0.0 |       1 |\n"
        "|   affects_transport       |    – |     – |    – |       0 |\n"
    )


def test_one_relation_is_one_row() -> None:
    one = ScoredPair(Pair("1", "C", "Chemical", "D", "Disease", ("cid",)), (0.9,), 1)
    lines = relation_table(evaluate([one], ["cid"], {"cid": 0.5})).splitlines()
    assert len(lines) == 3
    assert lines[2] == "| Micro    | 100.0 | 100.0 | 100.0 |       1 |"


def split(documents: int, positives: int, therapeutic: int, activity: int) -> dict[str, object]:
    return {
        "documents": documents,
        "positives": positives,
        "negatives": 10 * positives,
        "dropped_hypernym": 3,
        "too_long": 1,
        "by_relation": {LABELS[0]: therapeutic, LABELS[1]: activity},
        "by_pair_type": {
            "chemical_disease": {"documents": documents, "positives": therapeutic, "negatives": 7},
            "chemical_gene": {"documents": 2, "positives": activity, "negatives": 8},
        },
    }


def test_tables_1_5_and_6() -> None:
    stats = {
        "splits": {"train": split(1000, 1200, 900, 300), "dev": split(10, 12, 9, 3)},
        "total": split(1010, 1212, 909, 303),
    }
    rows = [
        [cell.replace("\u00a0", "").strip() for cell in line.strip("|").split("|")]
        for line in dataset_table(stats).splitlines()
        if line and not line.startswith("|:")
    ]
    assert rows == [
        ["Data split", "Docs", "Pos", "Neg", "Hypernyms left out", "Too long"],
        ["Train", "1,000", "1,200", "12,000", "3", "1"],
        ["Development", "10", "12", "120", "3", "1"],
        ["Total", "1,010", "1,212", "12,120", "3", "1"],
        ["Types", "Docs", "Pos", "Neg"],
        ["Total", "1,010", "1,212", "12,120"],
        ["Chemical / Disease", "1,010", "909", "7"],
        ["Chemical / Gene", "2", "303", "8"],
        ["Positives", "Train", "Development"],
        ["Total", "1,200", "12"],
        ["Chemical / Disease", "", ""],
        ["therapeutic", "900", "9"],
        ["Chemical / Gene", "", ""],
        ["increases_activity", "300", "3"],
    ]


def test_every_line_of_a_table_has_one_width() -> None:
    stats = {"splits": {"train": split(1, 2, 1, 1)}, "total": split(1, 2, 1, 1)}
    for table in dataset_table(stats).split("\n\n"):
        assert len({len(line) for line in table.splitlines() if line}) == 1


def test_names() -> None:
    assert pair_type_title("gene_disease") == "Gene / Disease"
    assert short_name("chemical_disease:marker/mechanism") == "marker/mechanism"
    assert short_name("chemical_induced_disease") == "chemical_induced_disease"
