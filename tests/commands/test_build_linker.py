"""build-linker: from documents and vocabularies to a folder that links."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from biorel.commands import build_linker
from biorel.config import load
from biorel.config.build_linker import BuildLinker
from biorel.counts import Reason
from biorel.errors import ConfigError, InputError
from biorel.linking.linker import load_linker
from tests.command_runs import pubtator, read_json

DRUG, SHAKES = "D900001", "D900002"


@pytest.fixture
def corpus(write) -> Path:
    documents = [
        pubtator(str(number), "Drugine causes shakes.", "Drugine again.", [("Drugine", "Chemical", DRUG)] * 2)
        + pubtator(
            str(100 + number), "On shakes.", "Trembles.", [("shakes", "Disease", SHAKES), ("Trem", "Disease", "-1")]
        )
        for number in range(1, 11)
    ]
    return write("corpus.txt", "".join(documents))


@pytest.fixture
def tree(write) -> Path:
    return write(
        "tree.tsv", f"Tree Number\tDesc Ui\tTerm\nD02.100\t{DRUG}\tDrugine\nC10.100\t{SHAKES}\tShaking Disorders\n"
    )


def build(out: Path, **options: Any) -> dict[str, Any]:
    build_linker.run(BuildLinker.model_validate({"out": out, **options}))
    return read_json(out / "metrics.json")


def test_builds_a_linker_from_documents_and_mesh(tmp_path, corpus, tree):
    metrics = build(tmp_path / "linker", documents=(corpus,), mesh=(tree,))
    assert metrics["concepts"]["Chemical"]["f1"] == 1.0
    linker = load_linker(tmp_path / "linker")
    assert linker.look_up("drugines", "Chemical") == (f"MESH:{DRUG}",)
    assert linker.look_up("shaking disease", "Disease") == (f"MESH:{SHAKES}",)
    manifest = read_json(tmp_path / "linker" / "manifest.json")
    assert manifest["counts"][Reason.TRAINING_MENTION_WITHOUT_ID] == 10
    assert set(linker.settings.thresholds) == {"Chemical", "Disease"}
    assert "held out" in (tmp_path / "linker" / "README.md").read_text()


def test_the_same_inputs_give_the_same_bytes(tmp_path, corpus, tree):
    for name in ("one", "two"):
        build(tmp_path / name, documents=(corpus,), mesh=(tree,), seed=3)
    for file in ("lexicon.parquet", "config.json", "metrics.json"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_dev_documents_are_tuned_on_once_and_not_learned_from(tmp_path, corpus, write):
    dev = write("dev.txt", pubtator("999", "Drugino.", "x", [("Drugino", "Chemical", DRUG)]))
    metrics = build(tmp_path / "linker", documents=(corpus,), dev=(dev, corpus))
    assert metrics["concepts"]["overall"]["gold"] == 1
    counts = read_json(tmp_path / "linker" / "manifest.json")["counts"]
    assert counts[Reason.DEV_DOCUMENT_IN_TRAINING] == 20


def test_m02_maps_document_ids_to_this_mesh(tmp_path, tree, write):
    documents = write("padded.txt", pubtator("1", "Drugan.", "x", [("Drugan", "Chemical", "D000900001")]))
    build(tmp_path / "linker", documents=(documents,), mesh=(tree,))
    assert load_linker(tmp_path / "linker").look_up("drugan", "Chemical") == (f"MESH:{DRUG}",)


def test_c06_maps_document_ids_to_primary_ids_of_ctd(tmp_path, write):
    write(
        "ctd/CTD_diseases.csv",
        "# Fields:\n# DiseaseName,DiseaseID,AltDiseaseIDs,Synonyms\nShakes,MESH:D900010,OMIM:900208,Quakes\n",
    )
    documents = write("omim.txt", pubtator("1", "Jitters.", "x", [("Jitters", "Disease", "OMIM:900208")]))
    build(tmp_path / "linker", documents=(documents,), ctd=tmp_path / "ctd")
    linker = load_linker(tmp_path / "linker")
    assert linker.look_up("jitters", "Disease") == linker.look_up("quake", "Disease") == ("MESH:D900010",)


def test_vocabularies_alone_use_default_thresholds(tmp_path, tree):
    metrics = build(tmp_path / "linker", mesh=(tree,))
    assert metrics["concepts"]["overall"]["gold"] == 0
    assert load_linker(tmp_path / "linker").settings.thresholds == {"Chemical": 0.8, "Disease": 0.7}


def test_rejects_inputs_without_names(tmp_path, write):
    with pytest.raises(ConfigError, match="no names"):
        load(BuildLinker, {"out": tmp_path / "linker"})
    bare = write("bare.txt", pubtator("1", "Nothing.", "here"))
    with pytest.raises(InputError, match="no input contains a name"):
        build(tmp_path / "linker", documents=(bare,))
    assert not (tmp_path / "linker").exists()
