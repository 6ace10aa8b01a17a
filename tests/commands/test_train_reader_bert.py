"""train-reader with a pre-trained BERT: its vocabulary and weights are used, saved and loaded."""

from __future__ import annotations

import pytest
from safetensors.torch import load_file

from biorel.commands import ask, evaluate_reader
from biorel.config import load
from biorel.config.ask import Ask
from biorel.config.evaluate_reader import EvaluateReader
from biorel.config.train_reader import TrainReader
from biorel.errors import ConfigError
from biorel.qa.folder import open_reader
from tests.bert import tiny_bert
from tests.command_runs import read_json
from tests.qa.question_samples import small_questions, stories, tiny_reader


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return tiny_bert(tmp_path_factory.mktemp("bert") / "tiny")


@pytest.fixture(scope="module")
def questions(tmp_path_factory):
    return small_questions(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def reader(questions, bert, tmp_path_factory):
    out = tmp_path_factory.mktemp("read") / "r"
    return tiny_reader(questions, out, encoder=f"hf:{bert}", head="matrix-both", encoder_rate=3e-3, epochs=2)


def test_training_starts_from_the_weights_and_uses_the_vocabulary(questions, bert, tmp_path):
    still = {"encoder": f"hf:{bert}", "epochs": 1, "learning_rate": 1e-12, "encoder_rate": 1e-12}
    trained = load_file(tiny_reader(questions, tmp_path / "r", **still) / "model.safetensors")
    for name, value in load_file(bert / "model.safetensors").items():
        if not name.startswith("pooler."):
            assert trained[f"0.encoder.bert.model.{name}"].allclose(value, atol=1e-6), name
    vocabulary = read_json(tmp_path / "r" / "tokenizer.json")["model"]["vocab"]
    assert vocabulary == read_json(bert / "tokenizer.json")["model"]["vocab"]


def test_the_reader_loads_without_the_folder_of_the_bert(questions, reader, tmp_path):
    opened = open_reader(reader)
    assert opened.readers[0].config.encoder == "bert"
    assert opened.readers[0].config.window == 48
    out = evaluate_reader.run(EvaluateReader(model=reader, questions=questions, split="dev", out=tmp_path / "e")).path
    measured, dev = read_json(out / "metrics.json"), read_json(reader / "metrics.json")["dev"]
    assert measured["located"]["f1"] == pytest.approx(dev["located"]["f1"], abs=1e-9)
    assert measured["macro_f1"] == pytest.approx(dev["macro_f1"], abs=1e-9)


def test_ask_uses_the_reader(reader, tmp_path):
    over = stories(tmp_path, "stories", range(24, 30))
    given = {"model": reader, "over": [over], "tagger": "none", "min_score": 0}
    summary = ask.run(Ask.model_validate(given | {"question": "Which diseases were induced?"})).details
    assert summary["documents"] == 6
    assert summary["answers"]


def test_rejects_vectors_and_unknown_encoders():
    with pytest.raises(ConfigError, match="brings its own weights: leave out --vectors"):
        load(TrainReader, {"questions": "q", "out": "r", "encoder": "hf:b", "vectors": "v"})
    with pytest.raises(ConfigError, match="--encoder"):
        load(TrainReader, {"questions": "q", "out": "r", "encoder": "lstm"})
