"""train-reader and evaluate-reader on a small corpus: results, resuming, folds, errors, and the options passed on."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from biorel.commands import evaluate_reader, train_reader
from biorel.config import load
from biorel.config.evaluate_reader import EvaluateReader
from biorel.config.train_reader import TrainReader
from biorel.counts import Reason
from biorel.errors import ConfigError, InputError, ModelError, OutputError
from biorel.qa.folder import open_reader
from biorel.records import Question
from biorel.tables import read_table
from tests.command_runs import command_line, flags, read_json, read_json_lines
from tests.qa.question_samples import TINY, small_questions, tiny_reader
from tests.recorder import Recorder


@pytest.fixture(scope="module")
def questions(tmp_path_factory):
    return small_questions(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def reader(questions, tmp_path_factory):
    return tiny_reader(questions, tmp_path_factory.mktemp("read") / "r", epochs=25)


def weights(folder):
    return (folder / "model.safetensors").read_bytes()


def test_a_reader_learns_a_small_corpus(questions, reader, tmp_path):
    out = evaluate_reader.run(EvaluateReader(model=reader, questions=questions, out=tmp_path / "e")).path
    metrics = read_json(out / "metrics.json")
    assert metrics["questions"] == 24
    assert metrics["answerable"] == 12
    assert metrics["exact_match"] > 0.5
    assert metrics["protocol"]["decoding"] == read_json(reader / "decoding.json")
    answers = read_json_lines(out / "answers.jsonl")
    assert len(answers) == 24
    assert all(row["answers"][0]["score"] >= row["answers"][-1]["score"] for row in answers if row["answers"])
    assert "exact match" in (out / "tables.md").read_text()


def test_exclude_splits_removes_known_pairs_of_training_articles(questions, reader, tmp_path):
    """One known tail is supported by a training article only, the other also by an article outside the dataset."""
    known = tmp_path / "known.tsv"
    test = [row for row in read_table(questions / "test" / "questions.parquet", Question) if row.asks == "tail"]
    heads = sorted({row.entity_id for row in test})
    listed = "".join(f"{head}\tMESH:D100002\t100\n{head}\tMESH:D100003\t100|999\n" for head in heads)
    known.write_text(listed + "MESH:D9\tMESH:D8\t100\n")
    given = {"model": reader, "questions": questions, "known": known}
    counts = [
        read_json(evaluate_reader.run(EvaluateReader(**given, out=tmp_path / name, **options)).path / "manifest.json")[
            "counts"
        ]
        for name, options in (("all", {}), ("less", {"exclude_splits": ("train",)}))
    ]
    assert counts[0][Reason.KNOWN_PAIRS_READ] == 2 * len(heads) + 1
    assert counts[1][Reason.KNOWN_PAIRS_READ] == len(heads)
    assert counts[1][Reason.KNOWN_PAIR_OF_EXCLUDED_ARTICLES] == len(heads) + 1
    with pytest.raises(ConfigError, match="go with --known"):
        load(EvaluateReader, {"model": "m", "questions": "q", "out": "o", "exclude_splits": ["train"]})


def test_the_folder_has_the_dev_metrics(reader):
    metrics = read_json(reader / "metrics.json")
    assert metrics["dev"]["questions"] == 24
    assert metrics["dev_f1"] == metrics["dev"]["located"]["f1"]
    assert "exact match" in (reader / "README.md").read_text()
    assert len(read_json(reader / "history.json")) == 25
    assert not (reader / "checkpoint").exists()


def test_the_same_seed_gives_the_same_weights(questions, tmp_path):
    first, again = (tiny_reader(questions, tmp_path / name) for name in "ab")
    other = tiny_reader(questions, tmp_path / "c", seed=2)
    assert weights(first) == weights(again) != weights(other)


@pytest.mark.slow
@pytest.mark.parametrize("folds", [1, 2])
def test_a_killed_run_resumes_to_the_same_weights(questions, tmp_path, folds):
    whole = tiny_reader(questions, tmp_path / "whole", folds=folds)
    config = TrainReader.model_validate({"questions": questions, "out": tmp_path / "r", "folds": folds, **TINY})
    epochs_done = 0

    def stop(reports):
        nonlocal epochs_done
        for report in reports:
            yield report
            epochs_done += report.dev is not None
            if epochs_done == 3 * folds - 1:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_reader.run(config, Recorder(stop))
    assert not config.out.exists()
    recorder = Recorder()
    train_reader.run(config, recorder)
    assert {report.epoch for report in recorder.reports} == {3}
    assert read_json(config.out / "manifest.json")["resumed"] is True
    assert weights(config.out) == weights(whole)


def test_rejects_the_checkpoint_of_another_run(questions, tmp_path):
    def stop(reports):
        for report in reports:
            yield report
            raise KeyboardInterrupt

    first, second = (
        TrainReader.model_validate({"questions": questions, "out": tmp_path / "r", **TINY, "seed": seed})
        for seed in (1, 2)
    )
    with pytest.raises(KeyboardInterrupt):
        train_reader.run(first, Recorder(stop))
    with pytest.raises(ModelError, match="belongs to a run with other data or parameters"):
        train_reader.run(second)
    forced = second.model_copy(update={"force": True})
    assert read_json(train_reader.run(forced).path / "manifest.json")["resumed"] is False


def test_folds_use_every_document_as_dev_once(questions, tmp_path):
    out = tiny_reader(questions, tmp_path / "r", folds=3)
    assert len(open_reader(out).readers) == 3
    # 18 training and 6 dev documents, four questions each
    assert read_json(out / "metrics.json")["dev"]["questions"] == 4 * 24
    assert {row["fold"] for row in read_json(out / "history.json")} == {1, 2, 3}


def test_errors_leave_no_output(questions, reader, dataset, tmp_path):
    with pytest.raises(InputError, match="no such file"):
        tiny_reader(dataset.parent, tmp_path / "r")
    with pytest.raises(InputError, match="no such split"):
        tiny_reader(_bare(questions, tmp_path), tmp_path / "r")
    with pytest.raises(InputError, match="--folds 99: too few documents, train and dev have only 24 in total"):
        tiny_reader(questions, tmp_path / "r", folds=99)
    with pytest.raises(OutputError, match="exists already"):
        tiny_reader(questions, reader)
    assert not list(tmp_path.glob("r*"))


def _bare(questions, folder):
    """A folder with only a tokenizer."""
    bare = folder / "bare"
    bare.mkdir()
    (bare / "tokenizer.json").write_bytes((questions / "tokenizer.json").read_bytes())
    return bare


def test_rejects_a_folder_that_is_not_a_reader(reader, model, tmp_path):
    with pytest.raises(ModelError, match="not a reader"):
        open_reader(model)
    with pytest.raises(ModelError, match="no such model folder"):
        open_reader(tmp_path / "none")
    broken = tmp_path / "broken"
    broken.mkdir()
    for path in reader.iterdir():
        (broken / path.name).write_bytes(path.read_bytes())
    content = read_json(broken / "config.json")
    del content["members"][0]["width"]
    (broken / "config.json").write_text(json.dumps(content))
    with pytest.raises(ModelError, match="width missing or unknown"):
        open_reader(broken)


def test_command_lines(questions, reader, tmp_path, capsys):
    code, out, err = command_line(
        capsys, "train-reader", *flags(questions=questions, out=tmp_path / "r", width=8, epochs=1, threads=1)
    )
    assert (code, out) == (0, f"reader: {tmp_path / 'r'}\n"), err
    assert "dev F1" in err
    code, out, err = command_line(
        capsys, "evaluate-reader", *flags(model=reader, questions=questions, split="dev", out=tmp_path / "e")
    )
    assert (code, out.splitlines()[-1]) == (0, f"evaluation: {tmp_path / 'e'}"), err
    assert "exact match" in out


def test_every_option_reaches_the_reader_or_its_training():
    """All options have other values than their defaults, so that a forgotten one shows."""
    model = {
        **{"head": "matrix", "encoder": "bran", "width": 12, "embedding": 10, "positions": 6, "kernel": 5},
        **{"dilations": (1, 3), "question_dilations": (1,), "blocks": 3, "heads": 2, "window": 99, "sample": 7},
        **{"focus": 1.5, "gate_noise": 0.2, "word_dropout": 0.3, "dropout": 0.4},
    }
    schedule = {
        **{"seed": 9, "epochs": 5, "learning_rate": 0.02, "warmup": 11, "final_rate": 0.3, "clip": 2.0, "patience": 6},
    }
    training = {
        **{"seed": 9, "weight_decay": 0.1, "ema": 0.9, "token_budget": 123, "eval_tokens": 456, "vectors": Path("v")},
        **{"freeze_vectors": True, "encoder_rate": 0.7, "layer_decay": 0.8},
    }
    options = {**model, **schedule, **training}
    not_training = {"questions", "resplit_dev", "folds", "device", "threads", "out", "force"}
    assert set(options) == set(TrainReader.model_fields) - not_training
    assert all(value != TrainReader.model_fields[name].default for name, value in options.items())
    config = TrainReader.model_validate({"questions": "q", "out": "r", **options})
    reader = train_reader._reader_config(config, 50, None)
    arguments = train_reader._training_arguments(config, reader)
    assert asdict(reader) == {"vocabulary": 50, **model, "bert": "", "cls_id": 0, "sep_id": 0, "unk_id": 0}
    assert schedule.items() <= asdict(arguments.schedule).items()
    assert {**training, "encoder_name": "bran"}.items() == {
        name: value for name, value in vars(arguments).items() if name not in ("reader", "schedule")
    }.items()
