"""Helpers for tests of commands: small corpora, a small part of the shipped sample, and runs of biorel."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from biorel.cli.app import main
from biorel.commands import build_dataset, train
from biorel.config.build_dataset import BuildDataset
from biorel.config.train import Train
from biorel.counts import Counts
from biorel.formats.documents import read_documents
from biorel.training.model_folder import open_model

REPOSITORY = Path(__file__).parents[1]
SAMPLE = REPOSITORY / "resources" / "sample"
# training options of the tests: a small model, one thread, about a second
TINY: dict[str, Any] = {
    "width": 16,
    "heads": 2,
    "expansion": 2,
    "epochs": 2,
    "warmup": 2,
    "learning_rate": 0.01,
    "token_budget": 1200,
    "threads": 1,
}
HEADER = {
    "CTD_chemicals_diseases": "ChemicalName,ChemicalID,CasRN,DiseaseName,DiseaseID,DirectEvidence,InferenceGeneSymbol,"
    "InferenceScore,OmimIDs,PubMedIDs",
    "CTD_genes_diseases": "GeneSymbol,GeneID,DiseaseName,DiseaseID,DirectEvidence,InferenceChemicalName,"
    "InferenceScore,OmimIDs,PubMedIDs",
    "CTD_chem_gene_ixns": "ChemicalName,ChemicalID,CasRN,GeneSymbol,GeneID,GeneForms,Organism,OrganismID,Interaction,"
    "InteractionActions,PubMedIDs",
    "CTD_chem_gene_ixn_types": "TypeName,Code,Description,ParentCode",
}


def pubtator(
    doc_id: str,
    title: str,
    abstract: str,
    mentions: Iterable[tuple[str, str, str]] = (),
    relations: Iterable[tuple[str, str]] = (),
    word: str = "CID",
) -> str:
    """A document in PubTator format; a mention is (text, type, id); repeated texts are matched from left to right."""
    text = f"{title} {abstract}"
    lines = [f"{doc_id}|t|{title}", f"{doc_id}|a|{abstract}"]
    begin: dict[str, int] = {}
    for name, type_, id_ in mentions:
        start = text.index(name, begin.get(name, 0))
        begin[name] = start + 1
        lines.append(f"{doc_id}\t{start}\t{start + len(name)}\t{name}\t{type_}\t{id_}")
    lines += [f"{doc_id}\t{word}\t{head}\t{tail}" for head, tail in relations]
    return "\n".join(lines) + "\n\n"


def ctd_folder(folder: Path, **tables: Sequence[dict[str, str]]) -> Path:
    """A folder of CTD bulk files; rows map column names to values, and missing columns are empty."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in ({"CTD_chem_gene_ixn_types": ()} | tables).items():
        columns = HEADER[name].split(",")
        stream = io.StringIO()
        writer = csv.DictWriter(stream, columns, restval="", lineterminator="\n")
        writer.writerows(rows)
        content = f"# by hand\n#\n# Fields:\n# {HEADER[name]}\n#\n{stream.getvalue()}"
        (folder / f"{name}.csv").write_text(content, encoding="utf-8")
    return folder


def mesh_file(path: Path, *rows: tuple[str, str]) -> Path:
    """A MeSH tree of (tree number, descriptor id) rows."""
    lines = ["Tree Number\tDesc Ui\tTerm", *(f"{number}\t{id_}\t{id_}" for number, id_ in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def read_json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def build(out: Path, **options: Any) -> dict[str, Any]:
    """Build a dataset; returns its stats.json. Without --mesh the hypernym filter is off."""
    options.setdefault("hypernyms", "tail" if "mesh" in options else "off")
    options.setdefault("vocabulary", 200)
    build_dataset.run(BuildDataset.model_validate({"out": out, **options}))
    return read_json(out / "stats.json")


def sample_documents() -> list[str]:
    """The abstracts of the sample in PubTator format, one string each."""
    text = (SAMPLE / "abstracts.pubtator.txt").read_text(encoding="utf-8")
    return [f"{block}\n\n" for block in text.strip().split("\n\n")]


def sample_dataset(folder: Path, **options: Any) -> Path:
    """A dataset of the first documents of the sample: 10 to train on, 4 dev, 2 test."""
    blocks = sample_documents()[:16]
    source, splits = folder / "abstracts.txt", folder / "splits.tsv"
    source.write_text("".join(blocks), encoding="utf-8")
    places = ("train", "train", "train", "dev", "train", "test", "dev", "train")
    rows = (f"{block.split('|')[0]}\t{places[number % len(places)]}\n" for number, block in enumerate(blocks))
    splits.write_text("".join(rows), encoding="utf-8")
    given: dict[str, Any] = {"documents": [source], "ctd": SAMPLE / "ctd", "mesh": [SAMPLE / "mesh.tsv"]}
    build(folder / "dataset", **(given | {"splits": splits, "vocabulary": 400, "max_tokens": 1000} | options))
    return folder / "dataset"


def tiny_model(dataset: Path, out: Path, **options: Any) -> Path:
    """Train on a dataset for some seconds."""
    return train.run(Train.model_validate({"dataset": dataset, "out": out, **TINY, **options})).path


def talkative(folder: Path) -> Path:
    """Replace the entity head of a model folder by a random one that predicts many entities of every type.

    After a few epochs, token vectors differ little within a text, so the head normalises them.
    """
    opened = open_model(folder)
    document = next(read_documents([SAMPLE / "abstracts.jsonl"], Counts())).document
    ids = torch.tensor([opened.encoder.example(document, (), (), (), Counts()).token_ids])
    with torch.no_grad():
        tokens = opened.model.eval().encode(ids, torch.ones_like(ids, dtype=torch.bool))[0]  # [T, D]
    path = folder / "model.safetensors"
    tensors = load_file(path)
    drawn = torch.randn(tensors["ner.weight"].shape, generator=torch.Generator().manual_seed(0))
    weight = drawn / tokens.std(0)
    bias = -weight @ tokens.mean(0)
    bias[0] += 4.0  # most words are outside entities
    save_file({**tensors, "ner.weight": weight, "ner.bias": bias}, path)
    return folder


def flags(**options: Any) -> list[str]:
    """The options as command-line arguments."""
    return [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]


def biorel(*arguments: object, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run biorel in a separate process."""
    return subprocess.run(
        [sys.executable, "-m", "biorel", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=os.environ | {"OMP_NUM_THREADS": "1", "COLUMNS": "200"} | environment,
        timeout=300,
        check=False,
    )


def command_line(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Run biorel in this process; returns its exit code, stdout and stderr."""
    capsys.readouterr()
    before = sys.argv
    sys.argv = ["biorel", *map(str, arguments)]
    try:
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        sys.argv = before
    captured = capsys.readouterr()
    return code, captured.out, captured.err
