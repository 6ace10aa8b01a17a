"""pretrain: the files of its folder, resumption after a kill, and training that starts from it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from safetensors.torch import load_file, save_file

from biorel.commands import pretrain, run
from biorel.config import load
from biorel.config.pretrain import Pretrain
from biorel.config.run import Run
from biorel.counts import Reason
from biorel.errors import ConfigError, InputError, ModelError
from biorel.progress import Report
from biorel.training import skipgram
from biorel.training.model_folder import open_model
from tests.command_runs import SAMPLE, read_json, sample_dataset, sample_documents, tiny_model
from tests.recorder import Recorder

ABSTRACTS = SAMPLE / "abstracts.jsonl"
TINY: dict[str, Any] = {
    "width": 16,
    "heads": 2,
    "expansion": 2,
    "epochs": 3,
    "warmup": 2,
    "learning_rate": 0.01,
    "held_out": 0.2,
    "token_budget": 1200,
    "vocabulary": 400,
    "threads": 1,
}
SPEED = ("seconds", "seconds_per_epoch", "tokens_per_second")


class Killed(BaseException):
    """Stops a run from outside, like Ctrl-C."""


def config(out: Path, **options: Any) -> Pretrain:
    return Pretrain.model_validate({"documents": [ABSTRACTS], "out": out, **TINY, **options})


def made(out: Path, **options: Any) -> Path:
    return pretrain.run(config(out, **options)).path


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


def history(folder: Path) -> pd.DataFrame:
    return pd.read_parquet(folder / "history.parquet").drop(columns=list(SPEED), errors="ignore")


def killed_after_an_epoch(reports: Iterable[Report]) -> Iterator[Report]:
    for report in reports:
        yield report
        if report.dev is not None:
            raise Killed


@pytest.fixture(scope="module")
def pretrained(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pre-trained encoder with the vocabulary of the tests' dataset, for reading only."""
    return made(tmp_path_factory.mktemp("pretrained") / "encoder", tokenizer_file=dataset)


# ---- masked


def test_a_folder_is_complete_and_its_counts_add_up(pretrained, dataset):
    assert {path.name for path in pretrained.iterdir()} == {
        *("model.safetensors", "config.json", "tokenizer.json", "metrics.json", "history.parquet"),
        *("README.md", "manifest.json"),
    }
    assert (pretrained / "tokenizer.json").read_bytes() == (dataset / "tokenizer.json").read_bytes()
    counts = read_json(pretrained / "manifest.json")["counts"]
    assert counts[Reason.DOCUMENTS_READ] == counts[Reason.DOCUMENTS_USED] + counts[Reason.DOCUMENTS_HELD_OUT] == 48
    metrics = read_json(pretrained / "metrics.json")
    assert metrics["texts"] == {"train": counts[Reason.DOCUMENTS_USED], "dev": counts[Reason.DOCUMENTS_HELD_OUT]}
    assert metrics["epochs"] == 3
    card = (pretrained / "README.md").read_text()
    assert f"Dev perplexity {metrics['dev_perplexity']:.1f} (epoch {metrics['best_epoch']})" in card


def test_each_epoch_predicts_hidden_tokens_better(pretrained):
    table = history(pretrained)
    assert table["dev_perplexity"].is_monotonic_decreasing
    assert table["loss"].is_monotonic_decreasing
    assert read_json(pretrained / "metrics.json")["dev_perplexity"] == table["dev_perplexity"].iloc[-1]


def test_hidden_tokens_are_predicted_from_their_context(tmp_path):
    """Ten words in a cycle: from frequencies alone the perplexity is 10, from the neighbours it is 1."""
    circle = [f"word{letter}" for letter in "abcdefghij"] * 4
    source = tmp_path / "circles.jsonl"
    texts = (" ".join(circle[number % 10 : number % 10 + 12]) for number in range(200))
    source.write_text("".join(json.dumps({"id": str(n), "text": text}) + "\n" for n, text in enumerate(texts)))
    options = {"documents": [source], "tokenizer": "words", "token_budget": 240, "ema": 0.9, "epochs": 15}
    table = history(made(tmp_path / "m", **options))
    assert table["dev_perplexity"].iloc[0] > 5
    assert table["dev_perplexity"].iloc[-1] < 2


@pytest.mark.slow
def test_the_same_seed_gives_the_same_weights_and_another_seed_others(tmp_path):
    one, same, other = made(tmp_path / "a"), made(tmp_path / "b"), made(tmp_path / "c", seed=2)
    assert weights(one) == weights(same)
    assert history(one).equals(history(same))
    assert weights(one) != weights(other)


def test_hidden_tokens_of_held_out_texts_do_not_depend_on_the_batches(tmp_path):
    one, other = made(tmp_path / "a", epochs=1), made(tmp_path / "b", epochs=1, eval_tokens=300)
    assert weights(one) == weights(other)
    perplexities = [read_json(folder / "metrics.json")["dev_perplexity"] for folder in (one, other)]
    assert perplexities[0] == pytest.approx(perplexities[1], rel=1e-4)


@pytest.mark.slow
def test_a_killed_run_resumes_to_the_same_weights(tmp_path):
    with pytest.raises(Killed):
        pretrain.run(config(tmp_path / "m"), Recorder(killed_after_an_epoch))
    assert not (tmp_path / "m").exists()
    recorder = Recorder()
    pretrain.run(config(tmp_path / "m"), recorder)
    assert {report.epoch for report in recorder.reports} == {2, 3}
    assert [report.epoch for report in recorder.reports if report.dev is not None] == [2, 3]
    assert read_json(tmp_path / "m" / "manifest.json")["resumed"] is True
    whole = made(tmp_path / "whole")
    assert weights(tmp_path / "m") == weights(whole)
    assert history(tmp_path / "m").equals(history(whole))
    assert not list(tmp_path.glob("*.partial"))


@pytest.mark.slow
def test_rejects_a_checkpoint_of_another_run_unless_forced(tmp_path):
    with pytest.raises(Killed):
        pretrain.run(config(tmp_path / "m"), Recorder(killed_after_an_epoch))
    with pytest.raises(ModelError, match="belongs to a run with other data or parameters"):
        made(tmp_path / "m", seed=5)
    assert weights(made(tmp_path / "m", seed=5, force=True)) == weights(made(tmp_path / "fresh", seed=5))


def test_reads_several_formats_and_cuts_long_texts_into_pieces(tmp_path):
    pubtator = tmp_path / "a.txt"
    pubtator.write_text("".join(sample_documents()[:3]), encoding="utf-8")
    more = tmp_path / "b.jsonl"
    long = " ".join(json.loads(line)["abstract"] for line in ABSTRACTS.read_text().splitlines()[:20])
    more.write_text(json.dumps({"id": "long", "title": "Many.", "abstract": long}) + "\n", encoding="utf-8")
    folder = made(tmp_path / "m", documents=[pubtator, more, ABSTRACTS], positions=100, epochs=1)
    manifest, metrics = read_json(folder / "manifest.json"), read_json(folder / "metrics.json")
    counts = manifest["counts"]
    assert counts[Reason.DOCUMENTS_USED] + counts[Reason.DOCUMENTS_HELD_OUT] == 49
    assert counts[Reason.DOCUMENT_REPEATED] == 3
    assert sum(metrics["texts"].values()) > 70
    assert load_file(folder / "model.safetensors")["embedding.positions.weight"].shape == (100, 16)


def test_documents_can_be_left_out(tmp_path):
    ids = [json.loads(line)["pmid"] for line in ABSTRACTS.read_text().splitlines()[:20]]
    listed = tmp_path / "ids.txt"
    listed.write_text("\n".join(ids))
    counts = read_json(made(tmp_path / "m", exclude_pmids=[listed], epochs=1) / "manifest.json")["counts"]
    assert counts[Reason.DOCUMENT_EXCLUDED_BY_PMID] == 20
    assert counts[Reason.DOCUMENTS_USED] + counts[Reason.DOCUMENTS_HELD_OUT] == 28


def test_a_vocabulary_can_be_of_words(tmp_path):
    folder = made(tmp_path / "m", tokenizer="words", min_count=3, epochs=1)
    vocabulary = read_json(folder / "tokenizer.json")["model"]["vocab"]
    assert "patients" in vocabulary
    assert load_file(folder / "model.safetensors")["bias"].shape == (len(vocabulary),)


# ---- training that starts from it


def test_training_starts_from_the_pre_trained_embedding_and_blocks(pretrained, dataset, tmp_path):
    model = tiny_model(dataset, tmp_path / "m", pretrained=pretrained, epochs=1, learning_rate=1e-12)
    before, after = load_file(pretrained / "model.safetensors"), load_file(model / "model.safetensors")
    shared = [name for name in before if name.startswith(("embedding.", "encoder."))]
    assert len(shared) > 10
    for name in shared:
        assert after[name].allclose(before[name], atol=1e-6), name
    counts = read_json(model / "manifest.json")["counts"]
    assert counts[Reason.PRETRAINED_PARAMETERS] == sum(before[name].numel() for name in shared)
    assert open_model(model).model.config.input_dropout == 0.3


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"width": 24, "blocks": 1}, r"other sizes than this network: width 16 \(here 24\), blocks 2 \(here 1\)"),
        ({"kernels": (1, 1, 1)}, r"network: kernels \[1, 5, 1\] \(here \[1, 1, 1\]\)"),
        ({"positions": 500}, r"network: positions 1000 \(here 500\)"),
    ],
)
def test_rejects_an_encoder_of_other_sizes(pretrained, dataset, tmp_path, options, fault):
    with pytest.raises(ModelError, match=fault):
        tiny_model(dataset, tmp_path / "m", pretrained=pretrained, **options)
    assert not list(tmp_path.iterdir())


def test_rejects_an_encoder_of_another_vocabulary_with_a_hint(pretrained, tmp_path):
    other = sample_dataset(tmp_path, vocabulary=300)
    with pytest.raises(ModelError, match="another tokenizer than that of the dataset") as caught:
        tiny_model(other, tmp_path / "m", pretrained=pretrained)
    assert caught.value.hint == f"build the dataset with --tokenizer-file {pretrained}"


def test_rejects_folders_without_an_encoder(pretrained, dataset, model, tmp_path):
    with pytest.raises(ModelError, match="holds no pre-trained encoder"):
        tiny_model(dataset, tmp_path / "m", pretrained=model)
    with pytest.raises(ModelError, match=r"nowhere.config\.json: No such file"):
        tiny_model(dataset, tmp_path / "m", pretrained=tmp_path / "nowhere")
    broken = tmp_path / "broken"
    broken.mkdir()
    for path in pretrained.iterdir():
        (broken / path.name).write_bytes(path.read_bytes())
    tensors = load_file(pretrained / "model.safetensors")
    tensors.pop("encoder.blocks.0.attention.norm.bias")
    save_file(tensors, broken / "model.safetensors")
    with pytest.raises(ModelError, match=r"model\.safetensors: does not match config\.json"):
        tiny_model(dataset, tmp_path / "m", pretrained=broken)
    (broken / "model.safetensors").write_bytes(b"x")
    with pytest.raises(ModelError, match="not a safetensors file"):
        tiny_model(dataset, tmp_path / "m", pretrained=broken)


@pytest.mark.slow
def test_a_pipeline_from_abstracts_to_a_model(tmp_path):
    splits = tmp_path / "splits.tsv"
    ids = [block.split("|")[0] for block in sample_documents()]
    splits.write_text("".join(f"{id_}\t{'dev' if number % 4 == 3 else 'train'}\n" for number, id_ in enumerate(ids)))
    sizes = "width = 16\nheads = 2\nexpansion = 2\nepochs = 1\nthreads = 1\n"
    (tmp_path / "p.toml").write_text(
        '[[stage]]\nname = "encoder"\ncommand = "pretrain"\ndocuments = ["{data}/abstracts.jsonl"]\n'
        f"held_out = 0.2\n{sizes}"
        '[[stage]]\nname = "dataset"\ncommand = "build-dataset"\ndocuments = ["{data}/abstracts.pubtator.txt"]\n'
        f'splits = "{splits}"\nctd = "{{data}}/ctd"\nhypernyms = "off"\ntokenizer_file = "{{encoder}}"\n'
        f'[[stage]]\nname = "model"\ncommand = "train"\ndataset = "{{dataset}}"\npretrained = "{{encoder}}"\n{sizes}'
    )
    given = {"pipeline": tmp_path / "p.toml", "data": SAMPLE, "out": tmp_path / "out"}
    assert run.run(Run.model_validate(given)).details["ran"] == ["encoder", "dataset", "model"]
    assert run.run(Run.model_validate(given)).details["ran"] == []
    assert run.run(Run.model_validate(given | {"set": ("encoder.seed=2",)})).details["ran"] == [
        "encoder",
        "dataset",
        "model",
    ]


# ---- skipgram


@pytest.mark.slow
def test_training_reads_the_learned_vectors(dataset, tmp_path):
    pytest.importorskip("gensim")
    options = {"method": "skipgram", "tokenizer_file": dataset, "epochs": 2}
    recorder = Recorder()
    folder = pretrain.run(config(tmp_path / "v", **options), recorder).path
    assert recorder.lines[-2:] == ["epoch 1/2", "epoch 2/2"]
    assert {path.name for path in folder.iterdir()} == {"vectors.txt", "tokenizer.json", "manifest.json"}
    rows = (folder / "vectors.txt").read_text(encoding="utf-8").splitlines()
    counts = read_json(folder / "manifest.json")["counts"]
    assert rows[0] == f"{len(rows) - 1} 16"
    assert counts[Reason.VECTORS_WRITTEN] == len(rows) - 1 > 300
    assert (made(tmp_path / "w", **options) / "vectors.txt").read_text(encoding="utf-8").splitlines() == rows
    model = tiny_model(dataset, tmp_path / "m", vectors=folder / "vectors.txt", epochs=1)
    assert read_json(model / "manifest.json")["counts"][Reason.PRETRAINED_VECTORS] == len(rows) - 1
    started = made(tmp_path / "e", vectors=folder / "vectors.txt", tokenizer_file=dataset, epochs=1)
    assert read_json(started / "manifest.json")["counts"][Reason.PRETRAINED_VECTORS] == len(rows) - 1


def test_tokens_with_similar_contexts_have_similar_vectors():
    pytest.importorskip("gensim")
    drugs, ills = [f"drug{n}" for n in range(4)], [f"ill{n}" for n in range(4)]
    texts = [["dose", drug, "mg"] for drug in drugs] * 100 + [["severe", ill, "pain"] for ill in ills] * 100
    vectors = skipgram.learn_vectors(texts, width=12, window=3, negatives=5, epochs=20, seed=1, threads=1)

    def similarity(first: str, other: str) -> float:
        a, b = vectors[first], vectors[other]
        return float(a @ b / (a @ a * (b @ b)) ** 0.5)

    assert set(vectors) == {*drugs, *ills, "dose", "mg", "severe", "pain"}
    assert similarity("drug0", "drug1") > similarity("drug0", "ill1")
    assert similarity("ill0", "ill1") > similarity("ill0", "drug1")


def test_without_gensim_it_stops_with_a_hint_before_reading_anything(tmp_path, monkeypatch):
    monkeypatch.setattr(skipgram.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="needs gensim, which is not installed") as caught:
        made(tmp_path / "v", method="skipgram", documents=[tmp_path / "nowhere.jsonl"])
    assert caught.value.hint == "pip install 'biorel[pretrain]'"


# ---- faults


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"documents": []}, "--documents: "),
        ({"width": 10}, "--width 10 is not a multiple of --heads 4"),
        ({"tokenizer": "words", "merges": "m"}, "leave out --merges"),
        ({"method": "skipgram", "vectors": "v"}, "--vectors are for --method masked"),
        ({"held_out": 0}, "--held-out: "),
    ],
)
def test_rejects_options_that_exclude_each_other(options, fault):
    with pytest.raises(ConfigError, match=fault):
        load(Pretrain, {"documents": ["a"], "out": "m", **options})


def test_rejects_input_without_text(tmp_path):
    listed = tmp_path / "ids.txt"
    listed.write_text("\n".join(json.loads(line)["pmid"] for line in ABSTRACTS.read_text().splitlines()))
    with pytest.raises(InputError, match="no document has a text"):
        made(tmp_path / "m", exclude_pmids=[listed])
    one = tmp_path / "one.jsonl"
    one.write_text(ABSTRACTS.read_text().splitlines()[0] + "\n")
    with pytest.raises(InputError, match=r"too few texts: (1 to train on, 0|0 to train on, 1) held out"):
        made(tmp_path / "m", documents=[one])
    with pytest.raises(InputError, match=r"nowhere\.jsonl: no such file"):
        made(tmp_path / "m", documents=[tmp_path / "nowhere.jsonl"])
    assert not list(tmp_path.glob("m*"))
