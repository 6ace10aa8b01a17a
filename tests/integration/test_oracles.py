"""The counts of the real corpora, compared with `oracles.json` in the data folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from biorel.counts import Reason
from biorel.dataset.relation_schema import load_schema
from biorel.records import Pair
from biorel.tables import read_table
from tests.command_runs import build, read_json

pytestmark = pytest.mark.slow

SETS = {"train": "Training", "dev": "Development", "test": "Test"}
MODES = {
    "merge": "paper (unlinked mentions kept as one entity)",
    "drop": "default (unlinked mentions left out)",
}
COUNTS = ("documents", "positives", "negatives", "dropped_hypernym")
DROPPED_BY_CTD13 = "gene_disease:therapeutic"


@pytest.fixture
def oracles(shared_data: Path) -> dict[str, Any]:
    return json.loads((shared_data / "oracles.json").read_text(encoding="utf-8"))


@pytest.fixture
def mesh(shared_data: Path) -> Path:
    return shared_data / "mesh" / "2017MeshTree.tsv.gz"


def ctd_slice(shared_data: Path, out: Path, **options: Any) -> dict[str, Any]:
    """Build a dataset from the slice of CTD without a length limit; returns its statistics."""
    folder = shared_data / "ctd_slice"
    return build(
        out,
        documents=[folder / "abstracts.pubtator.txt.gz"],
        ctd=folder,
        mesh=[shared_data / "mesh" / "2017MeshTree.tsv.gz"],
        max_tokens=100_000,
        **options,
    )


def by_pair_type(total: dict[str, Any], count: str) -> dict[str, int]:
    return {name: counts[count] for name, counts in total["by_pair_type"].items()}


@pytest.mark.slow
@pytest.mark.parametrize("unlinked", MODES)
def test_cdr(shared_data, oracles, mesh, tmp_path, unlinked):
    files = {split: [shared_data / "cdr" / f"CDR_{name}Set.PubTator.txt.gz"] for split, name in SETS.items()}
    stats = build(tmp_path / "d", **files, schema="cdr", mesh=[mesh], unlinked=unlinked, max_tokens=100_000)
    found = {split: {count: counts[count] for count in COUNTS} for split, counts in stats["splits"].items()}
    assert found == {split: oracles["cdr"][name][MODES[unlinked]] for split, name in SETS.items()}
    total = stats["total"]
    assert {count: total[count] for count in COUNTS} == {
        count: sum(found[split][count] for split in SETS) for count in COUNTS
    }
    assert total["too_long"] == total["only_dropped_relations"] == total["held_back_inferred"] == 0
    # the table of pairs gives the same counts
    for split in SETS:
        pairs = list(read_table(tmp_path / "d" / split / "pairs.parquet", Pair))
        assert sum(bool(pair.relations) for pair in pairs if not pair.excluded_because) == found[split]["positives"]
        assert sum(not pair.relations for pair in pairs if not pair.excluded_because) == found[split]["negatives"]
        assert sum(pair.excluded_because == "hypernym" for pair in pairs) == found[split]["dropped_hypernym"]


def test_ctd_slice_with_ctd14(shared_data, oracles, tmp_path):
    stats = ctd_slice(shared_data, tmp_path / "d", schema="ctd14")
    expected, total = oracles["ctd_slice (schema ctd14, no length cap)"], stats["total"]
    assert stats["documents_read"] == expected["documents"]
    assert total["documents"] == expected["documents_kept"]
    assert stats["documents_without_positive"] == expected["documents"] - expected["documents_kept"]
    assert {name: count for name, count in total["by_relation"].items() if count} == expected["positives_by_relation"]
    assert total["positives"] == expected["positives"]
    assert by_pair_type(total, "negatives") == expected["negatives_by_pair_type"]
    assert total["negatives"] == sum(expected["negatives_by_pair_type"].values())
    assert total["dropped_hypernym"] == expected["dropped_hypernym_negatives"]
    assert total["only_dropped_relations"] == expected["pairs_with_only_dropped_relations"]
    assert stats["inferred_rows"] == expected["inferred_rows_ignored"]
    assert total["too_long"] == 0


def test_ctd_slice_with_ctd13_is_the_same_without_one_relation(shared_data, oracles, tmp_path):
    """A positive pair that loses its only relation becomes a pair with only dropped relations."""
    expected = oracles["ctd_slice (schema ctd14, no length cap)"]
    stats = ctd_slice(shared_data, tmp_path / "13", schema="ctd13", keep_empty=True)
    before = ctd_slice(shared_data, tmp_path / "14", schema="ctd14", keep_empty=True)
    total, whole = stats["total"], before["total"]
    lost = expected["positives_by_relation"].pop(DROPPED_BY_CTD13)
    assert {name: count for name, count in total["by_relation"].items() if count} == expected["positives_by_relation"]
    assert total["positives"] == expected["positives"] - lost
    therapeutic = [
        pair.relations
        for split in SETS
        for pair in read_table(tmp_path / "14" / split / "pairs.parquet", Pair)
        if DROPPED_BY_CTD13 in pair.relations
    ]
    assert len(therapeutic) == lost
    alone = sum(len(relations) == 1 for relations in therapeutic)
    assert total["only_dropped_relations"] == whole["only_dropped_relations"] + alone
    for name in ("chemical_disease", "chemical_gene"):
        assert total["by_pair_type"][name] == whole["by_pair_type"][name]
    # a pair that is no longer positive no longer excludes its hypernyms
    assert total["negatives"] + total["dropped_hypernym"] == whole["negatives"] + whole["dropped_hypernym"]


def test_uses_the_splits_of_the_paper(shared_data, tmp_path):
    splits = next((shared_data / "bran").glob("*split*"))
    stats = ctd_slice(shared_data, tmp_path / "d", schema="ctd14", splits=splits)
    counts = read_json(tmp_path / "d" / "manifest.json")["counts"]
    kept = sum(stats["splits"][split]["documents"] for split in SETS)
    assert kept > 0
    unlisted = counts.get(Reason.DOCUMENT_WITHOUT_SPLIT, 0)
    assert kept + stats["documents_without_positive"] + unlisted == counts[Reason.DOCUMENTS_READ] == 323


def test_derives_a_schema_from_the_slice(shared_data, tmp_path):
    """The paper's rules find the frequent relations of Table 6 and leave out rare ones."""
    stats = ctd_slice(shared_data, tmp_path / "d", schema="derive", keep_empty=True)
    found = stats["total"]["by_relation"]
    fixed = ctd_slice(shared_data, tmp_path / "14", schema="ctd14", keep_empty=True)["total"]["by_relation"]
    big = {name: count for name, count in fixed.items() if count > 0.03 * sum(fixed.values())}
    assert len(big) >= 7
    assert {name: found[name] for name in big} == big
    assert min(found.values()) >= 0.005 * sum(found.values())
    schema = load_schema(tmp_path / "d" / "schema.toml")
    assert schema.labels == tuple(found)
    for relation in schema.relations:
        name = relation.name.partition(":")[2]
        words = {source.partition("^")[0] for source in relation.sources if "^" in source}
        # affects_X, if it exists, includes both directions; otherwise each direction is a relation
        assert words <= {"affects", "increases", "decreases"}
        assert ("affects" in words) == name.startswith("affects_")
        assert name.startswith("affects_") or len(relation.sources) == 1
    sources = [(relation.head, source, relation.tail) for relation in schema.relations for source in relation.sources]
    assert len(set(sources)) == len(sources)
