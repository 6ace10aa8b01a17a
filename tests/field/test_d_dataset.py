"""D: splits, symmetric facts, label maps, repeated mentions, sentences, empty splits."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from biorel.commands import evaluate, train
from biorel.config.evaluate import Evaluate
from biorel.dataset.pair_features import FEATURES
from biorel.errors import InputError, ModelError
from biorel.records import Example
from biorel.tables import read_table
from biorel.text.sentences import sentence_index, sentence_starts
from tests.command_runs import (
    SAMPLE,
    TINY,
    biorel,
    build,
    command_line,
    ctd_folder,
    flags,
    pubtator,
    read_json,
    sample_dataset,
    sample_documents,
    tiny_model,
)
from tests.commands.test_train import Killed, config, interrupted
from tests.field.tables import doc_ids, pairs
from tests.recorder import Recorder

SPLITS = ("train", "dev", "test")
MARKS = [("Zetin", "Chemical", "D900001"), ("tremor", "Disease", "D900002"), ("ataxia", "Disease", "D900003")]


def long_document(doc_id: str) -> str:
    """Longer than two windows of a small model, with two pairs in each half."""
    half = "Zetin causes tremor and ataxia. " + "One word more. " * 30
    return pubtator(doc_id, "Zetin.", half + half, MARKS, [("D900001", "D900002")])


@pytest.mark.parametrize("shares", [(0.3, 0.3), (0.0, 0.5), (0.5, 0.0)])
def test_d_01_puts_a_long_document_into_one_split(write, tmp_path, shares):
    ids = [str(number) for number in range(900000, 900012)]
    source = write("a.txt", "".join(map(long_document, ids)))
    out = tmp_path / "d"
    facts = {"dev_share": shares[0], "test_share": shares[1], "max_tokens": 5000}
    build(out, documents=[source], ctd=folder(tmp_path, *ids), **facts)
    found = [doc_ids(out / split) for split in SPLITS]
    assert sorted(doc_id for split in found for doc_id in split) == ids
    assert sum(map(bool, found)) > 1
    for split, there in zip(SPLITS, found, strict=True):
        assert {example.doc_id for example in read_table(out / split / "examples.parquet", Example)} == set(there)


def folder(tmp_path: Path, *articles: str) -> Path:
    row = {"ChemicalID": "D900001", "DiseaseID": "MESH:D900002", "DirectEvidence": "therapeutic"}
    return ctd_folder(tmp_path / "ctd", CTD_chemicals_diseases=[row | {"PubMedIDs": "|".join(articles)}])


@pytest.mark.parametrize("how", ["corpus", "list"])
def test_d_01_rejects_a_document_in_two_splits(write, tmp_path, how):
    source = write("a.txt", long_document("900001"))
    if how == "corpus":
        given = {"train": [source], "test": [source], "schema": "cdr"}
    else:
        rows = write("s.tsv", "900001\ttrain\n900001\ttest\n")
        given = {"documents": [source], "splits": rows, "ctd": folder(tmp_path, "900001")}
    with pytest.raises(InputError, match="900001 is in train and in test"):
        build(tmp_path / "d", **given)
    assert not (tmp_path / "d").exists()


SYMMETRIC = (
    'name = "gg"\n[[relation]]\nname = "binds"\nhead = "Gene"\ntail = "Gene"\nsources = ["binds"]\nsymmetric = true\n'
)
GENES = [("GEN1", "Gene", "900001"), ("GEN2", "Gene", "900002")]


@pytest.mark.parametrize(
    "rows", [[("900001", "900002")], [("900002", "900001")], [("900001", "900002"), ("900002", "900001")]]
)
@pytest.mark.parametrize("order", [GENES, GENES[::-1]])
def test_d_03_a_symmetric_fact_is_one_pair_in_either_order(write, tmp_path, rows, order):
    schema = write("gg.toml", SYMMETRIC)
    text = pubtator("1", " and ".join(name for name, _, _ in order), "bind.", order, rows, word="binds")
    stats = build(tmp_path / "d", train=[write("a.txt", text)], schema=str(schema))
    assert (stats["total"]["positives"], stats["total"]["negatives"]) == (1, 0)
    assert list(pairs(tmp_path / "d")) == [("NCBIGene:900001", "NCBIGene:900002")]


def test_d_03_a_directed_fact_gives_two_pairs(write, tmp_path):
    schema = write("gg.toml", SYMMETRIC.replace("symmetric = true\n", ""))
    text = pubtator("1", "GEN1 and GEN2", "bind.", GENES, [("900002", "900001")], word="binds")
    stats = build(tmp_path / "d", train=[write("a.txt", text)], schema=str(schema))
    assert (stats["total"]["positives"], stats["total"]["negatives"]) == (1, 1)


@pytest.mark.slow
def test_d_04_output_does_not_depend_on_the_order_of_hashes(write, tmp_path):
    source = write("a.txt", "".join(sample_documents()[:8]))
    command = ["build-dataset", "--documents", source, "--ctd", SAMPLE / "ctd", "--mesh", SAMPLE / "mesh.tsv"]
    digests = []
    for seed in ("1", "2"):
        out = tmp_path / f"d{seed}"
        done = biorel(
            *command, "--schema", "derive", "--vocabulary", 150, "--max-tokens", 2000, "--out", out, PYTHONHASHSEED=seed
        )
        assert done.returncode == 0, done.stderr
        files = (path for path in sorted(out.rglob("*")) if path.is_file() and path.name != "manifest.json")
        digests.append({str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files})
    assert digests[0] == digests[1]
    assert len(digests[0]) == 17
    manifests = [read_json(tmp_path / f"d{seed}" / "manifest.json") for seed in "12"]
    assert manifests[0]["counts"] == manifests[1]["counts"]
    assert manifests[0]["fingerprint"] == manifests[1]["fingerprint"]


def test_d_04_rejects_a_dataset_with_another_label_map(model, dataset, tmp_path):
    assert (model / "labels.json").read_text() == (dataset / "labels.json").read_text()
    other = sample_dataset(tmp_path, schema="ctd14")
    given = {"model": model, "dataset": other, "out": tmp_path / "e"}
    with pytest.raises(ModelError, match="knows the relations"):
        evaluate.run(Evaluate.model_validate(given))
    assert not (tmp_path / "e").exists()


@pytest.mark.parametrize("change", ["order", "fewer"])
def test_d_04_rejects_a_label_map_changed_by_hand(model, dataset, tmp_path, change):
    shutil.copytree(dataset, tmp_path / "d")
    labels = read_json(dataset / "labels.json")
    labels["relations"] = labels["relations"][::-1] if change == "order" else labels["relations"][:-1]
    (tmp_path / "d" / "labels.json").write_text(json.dumps(labels))
    with pytest.raises(ModelError, match="knows the relations"):
        evaluate.run(Evaluate.model_validate({"model": model, "dataset": tmp_path / "d", "out": tmp_path / "e"}))


def test_d_04_does_not_resume_a_run_with_another_label_map(dataset, tmp_path):
    shutil.copytree(dataset, tmp_path / "d")
    with pytest.raises(Killed):
        train.run(config(tmp_path / "d", tmp_path / "m"), Recorder(interrupted(lambda report: report.dev is not None)))
    labels = read_json(dataset / "labels.json")
    (tmp_path / "d" / "labels.json").write_text(json.dumps({**labels, "relations": labels["relations"][::-1]}))
    with pytest.raises(ModelError, match="belongs to a run with other data or parameters"):
        tiny_model(tmp_path / "d", tmp_path / "m")


@pytest.mark.parametrize(("heads", "tails"), [(3, 4), (1, 1), (12, 1)])
def test_d_05_a_fact_is_one_pair_with_any_number_of_mentions(write, tmp_path, heads, tails):
    words = ["Zetin"] * heads + ["tremor"] * tails
    marks = [MARKS[0]] * heads + [MARKS[1]] * tails
    text = pubtator("1", " ".join(words) + ".", "Seen.", marks, [("D900001", "D900002")] * 2)
    stats = build(tmp_path / "d", train=[write("a.txt", text)], schema="cdr")
    assert (stats["total"]["positives"], stats["total"]["negatives"]) == (1, 0)
    (example,) = read_table(tmp_path / "d" / "train" / "examples.parquet", Example)
    assert len(example.mention_starts) == heads + tails
    assert example.pair_labels == ((1,),)


PLANT = "Drug A reduced P. syringae pv. tabaci growth."


@pytest.mark.parametrize(
    ("text", "span", "borders"),
    [
        (PLANT, "P. syringae pv. tabaci", (0,)),
        ("It grew. Vitamin B. Complex syrup helped. End.", "B. Complex syrup", (0, 9, 42)),
        ("It grew. Vitamin B. Complex syrup helped. End.", "Vitamin", (0, 9, 42)),
    ],
)
def test_d_06_no_sentence_begins_inside_an_entity(text, span, borders):
    start = text.index(span)
    starts = sentence_starts(text, 0, [(start, start + len(span))])
    assert starts[: len(borders)] == borders
    assert not [border for border in starts if start < border < start + len(span)]
    assert all(sentence_index(starts, place) >= 0 for place in range(len(text)))


def test_d_06_counts_shared_sentences_after_merging(write, tmp_path):
    """A sentence break after the abbreviated species would separate the drug from the disease."""
    species = "P. Syringae! Tabaci"
    text = pubtator(
        "1", "T.", f"Zetin cures {species}.", [MARKS[0], (species, "Disease", "D900002")], [("D900001", "D900002")]
    )
    build(tmp_path / "d", train=[write("a.txt", text)], schema="cdr")
    (example,) = read_table(tmp_path / "d" / "train" / "examples.parquet", Example)
    features = dict(zip(FEATURES, example.pair_features[0], strict=True))
    assert features["log_sentence_distance"] == 0
    assert features["log_shared_sentences"] > 0


@pytest.mark.parametrize(
    ("row", "hint"),
    [
        ({"ChemicalID": "C900777", "DiseaseID": "OMIM:900208"}, "MESH (1), OMIM (1)"),
        ({"ChemicalID": "D900001", "DiseaseID": "OMIM:900208"}, "OMIM (1)"),
        ({"PubMedIDs": "77"}, "no curation concerns these documents"),
    ],
)
def test_d_07_names_ids_if_no_pair_is_positive(capsys, write, tmp_path, row, hint):
    text = pubtator("1", "Zetin.", "tremor.", MARKS[:2])
    fact = {"ChemicalID": "D900001", "DiseaseID": "MESH:D900002", "DirectEvidence": "therapeutic", "PubMedIDs": "1"}
    ctd = ctd_folder(tmp_path / "ctd", CTD_chemicals_diseases=[fact | row])
    given = flags(documents=write("a.txt", text), ctd=ctd, hypernyms="off", out=tmp_path / "d")
    code, _, err = command_line(capsys, "build-dataset", *given)
    assert code == 3
    assert "no positive pair in 1 documents" in err
    assert hint in err


@pytest.fixture
def only(tmp_path: Path) -> Path:
    """A dataset with test documents only."""
    blocks = sample_documents()[:3]
    (tmp_path / "a.txt").write_text("".join(blocks), encoding="utf-8")
    (tmp_path / "s.tsv").write_text("".join(f"{block.split('|')[0]}\ttest\n" for block in blocks))
    given = {"documents": [tmp_path / "a.txt"], "splits": tmp_path / "s.tsv", "ctd": SAMPLE / "ctd"}
    build(tmp_path / "only", **given, max_tokens=1000)
    return tmp_path / "only"


def test_d_07_evaluates_a_dataset_with_a_test_split_only(capsys, only, model, tmp_path):
    code, _, err = command_line(
        capsys, "train", *flags(dataset=only, out=tmp_path / "m", epochs=1, width=TINY["width"])
    )
    assert code == 3
    assert f"{only}: the train split is empty" in err
    given = flags(model=model, dataset=only, out=tmp_path / "e")
    assert command_line(capsys, "evaluate", *given, "--no-plots")[0] == 0
    assert read_json(tmp_path / "e" / "metrics.json")["protocol"]["documents"] == 3


def test_d_07_reports_an_empty_split(capsys, only, model, tmp_path):
    given = flags(model=model, dataset=only, split="dev", out=tmp_path / "e")
    code, _, err = command_line(capsys, "evaluate", *given)
    assert code == 3
    assert "the dev split is empty" in err
