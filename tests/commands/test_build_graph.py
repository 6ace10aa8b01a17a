"""biorel build-graph: triples of MeSH, CTD and own files, their articles, and articles left out for an evaluation."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from biorel.commands import build_graph
from biorel.config.build_graph import BuildGraph
from biorel.counts import Reason
from biorel.errors import InputError
from biorel.records import Document, Triple
from biorel.tables import read_table
from tests.command_runs import REPOSITORY, SAMPLE, command_line, ctd_folder, mesh_file, read_json

ROWS = "ChemicalID\tDiseaseID\tPubMedIDs\nC112297\tD2\t20|100|x\nD1\tD2\t7\nD1\tD9\t7\nD1\tD1\t7\n\tD2\t7\nD1\tD2\t\n"


def graph(out: Path, **options: Any) -> list[Triple]:
    """Build a graph and return its triples."""
    build_graph.run(BuildGraph.model_validate({"out": out, **options}))
    return list(read_table(out / "triples.parquet", Triple))


def names(triples: list[Triple]) -> set[tuple[str, str, str]]:
    return {(triple.subject, triple.predicate, triple.object) for triple in triples}


@pytest.fixture
def mesh(tmp_path: Path) -> Path:
    path = mesh_file(tmp_path / "mesh.tsv", ("C01", "D000003"), ("C01.001", "D000002"), ("D01", "D000001"))
    return Path(path)


@pytest.fixture
def rows(write) -> Path:
    return write("rows.tsv.gz", ROWS.replace("D1", "D000001").replace("D2", "D000002").replace("D9", "D000009"))


def test_triples_of_mesh_and_ctd_rows_have_names_ids_and_articles(tmp_path, mesh, rows):
    triples = graph(tmp_path / "graph", mesh=[mesh], ctd=[rows])
    assert triples == [
        Triple("D000002", "is_a", "D000003", "MESH:D000002", "MESH:D000003", "mesh"),
        Triple("MESH:C112297", "marker/mechanism", "D000002", "MESH:C112297", "MESH:D000002", "ctd", ("20", "100")),
        Triple("D000001", "marker/mechanism", "D000002", "MESH:D000001", "MESH:D000002", "ctd", ("7",)),
    ]
    manifest = read_json(tmp_path / "graph" / "manifest.json")
    counts = manifest["counts"]
    assert counts[Reason.TRIPLE_OBJECT_WITHOUT_NAME] == 1
    assert counts[Reason.GRAPH_CURATION_REFLEXIVE] == 1
    assert counts[Reason.CTD_ROW_WITHOUT_CONCEPT] == counts[Reason.CTD_ROW_WITHOUT_PMID] == 1
    assert (counts[Reason.TRIPLES_WRITTEN], manifest["articles"]) == (3, 3)
    assert (tmp_path / "graph" / "triples.spo").read_text().splitlines()[0] == "D000002\tis_a\tD000003"


def test_a_triple_of_excluded_articles_needs_another_article(tmp_path, mesh, rows, write):
    triples = graph(tmp_path / "graph", mesh=[mesh], ctd=[rows], exclude_pmids=[write("ids.txt", "20\n7\n")])
    assert [triple.pmids for triple in triples if triple.source == "ctd"] == [("100",)]


def test_excludes_the_dev_and_test_articles_of_a_dataset(tmp_path, dataset):
    splits = {
        split: {document.doc_id for document in read_table(dataset / split / "documents.parquet", Document)}
        for split in ("train", "dev", "test")
    }
    whole = graph(tmp_path / "whole", ctd=[SAMPLE / "ctd"])
    held_out = graph(tmp_path / "held-out", ctd=[SAMPLE / "ctd"], exclude_dataset=dataset)
    articles = [{pmid for triple in triples for pmid in triple.pmids} for triples in (whole, held_out)]
    assert articles[0] & splits["dev"]
    assert articles[0] & splits["test"]
    assert articles[1] == articles[0] - splits["dev"] - splits["test"]
    assert articles[1] & splits["train"]


def test_bulk_files_give_names_and_inferred_rows_are_left_out(tmp_path):
    row = {"ChemicalID": "D000001", "ChemicalName": "Aspirin", "DiseaseID": "MESH:D000002", "PubMedIDs": "5|6"}
    ctd = ctd_folder(
        tmp_path / "ctd",
        CTD_chemicals_diseases=[
            row | {"DiseaseName": "Asthma", "DirectEvidence": "marker/mechanism|therapeutic"},
            row | {"DiseaseID": "MESH:D000003", "DiseaseName": "Pain", "DirectEvidence": ""},
        ],
    )
    triples = graph(tmp_path / "graph", ctd=[ctd])
    assert names(triples) == {("Aspirin", "marker/mechanism", "Asthma"), ("Aspirin", "therapeutic", "Asthma")}
    assert {triple.pmids for triple in triples} == {("5", "6")}


def test_adds_own_triples_once(tmp_path, mesh, write):
    own = write("own.spo", "Tim Cook\tCEO\tApple\nTim Cook\tCEO\tApple\na\tis_a\tb\nb\tis_a\ta\n")
    triples = graph(tmp_path / "graph", mesh=[mesh], spo=[own])
    assert names(triples) == {("D000002", "is_a", "D000003"), ("Tim Cook", "CEO", "Apple"), ("a", "is_a", "b")}
    counts = read_json(tmp_path / "graph" / "manifest.json")["counts"]
    assert counts[Reason.TRIPLE_REPEATED] == counts[Reason.TRIPLE_CIRCULAR] == 1


def test_a_malformed_line_gives_one_error_and_no_output(tmp_path, write, capsys):
    own = write("own.spo", "Tim Cook\tCEO\n")
    code, _, errors = command_line(capsys, "build-graph", "--spo", own, "--out", tmp_path / "graph")
    assert code == 3
    assert errors.splitlines()[0] == f"error: {own}:1: 2 fields instead of three"
    assert not (tmp_path / "graph").exists()


def test_rejects_input_without_triples(tmp_path, rows):
    with pytest.raises(InputError, match="no input contains a triple"):
        graph(tmp_path / "graph", ctd=[rows])


# runs biorel, then prints the seconds and the peak memory in KiB of its process alone
MEASURED = """
import re, time
from pathlib import Path
from biorel.cli.app import app
app(standalone_mode=False)
print(time.process_time(), re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.slow
def test_reads_real_mesh_and_ctd_rows_in_seconds_and_little_memory(tmp_path, shared_data):
    arguments = [
        *("--mesh", shared_data / "mesh" / "2017MeshTree.tsv.gz"),
        *("--ctd", shared_data / "ctd_rows" / "chemical_disease_marker_pmids.tsv.gz"),
        *("--out", tmp_path / "graph"),
    ]
    command = [sys.executable, "-c", MEASURED, "build-graph", *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=REPOSITORY)
    seconds, kibibytes = done.stdout.splitlines()[-1].split()
    counts = read_json(tmp_path / "graph" / "manifest.json")["counts"]
    assert counts[Reason.CTD_ROWS_READ] == 135_191
    assert (counts[Reason.MESH_TRIPLES], counts[Reason.CTD_TRIPLES]) == (38_579, 58_907)
    assert float(seconds) < 30
    assert 10_000 < int(kibibytes) < 1_000_000
