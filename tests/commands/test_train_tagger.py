"""biorel train-tagger: a folder that biorel tag reads, its card and its measures; whole or not at all."""

from __future__ import annotations

import pickle
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from biorel.commands import tag, train_tagger
from biorel.config.tag import Tag
from biorel.config.train_tagger import TrainTagger
from biorel.counts import Reason
from biorel.errors import InputError
from biorel.records import Mention
from biorel.tables import read_table
from tests.command_runs import command_line, flags, pubtator, read_json
from tests.recorder import Recorder

pytest.importorskip("spacy")
PICKLE = re.compile(rb"\x80[\x02-\x05]")
TINY = {
    "width": 16,
    "depth": 1,
    "rows": 200,
    "hidden": 16,
    "batch": 2,
    "warmup": 2,
    "learning_rate": 0.01,
    "dropout": 0.0,
}


@pytest.fixture
def corpus(write) -> Path:
    drugs = ("zetin", "moxetin", "5-HT2", "lurine")
    documents = [
        pubtator(
            str(number),
            f"On {drug} and tremor.",
            f"Patients on {drug} had tremor.",
            [(drug, "Chemical", "D900001")] * 2 + [("tremor", "Disease", "D900002"), ("tremor", "Disease", "-1")],
        )
        for number, drug in ((number, drugs[number % 4]) for number in range(20))
    ]
    return write("corpus.txt", "".join(documents) + pubtator("99", "Without mentions.", "None."))


def trained(out: Path, **options: Any) -> dict[str, Any]:
    train_tagger.run(TrainTagger.model_validate({"out": out, "epochs": 5, **TINY, **options}))
    return read_json(out / "metrics.json")


def test_writes_a_usable_tagger_with_a_card(tmp_path, corpus):
    metrics = trained(tmp_path / "tagger", train=(corpus,), held_out=6)
    assert metrics["documents"] == {"train": 14, "dev": 6}
    assert metrics["reachable"] == 1.0
    assert metrics["mentions"]["Chemical"]["f1"] > 0.7
    card = (tmp_path / "tagger" / "README.md").read_text()
    assert "corpus.txt" in card
    assert "| Chemical |" in card
    assert read_json(tmp_path / "tagger" / "manifest.json")["command"] == "train-tagger"

    out = tmp_path / "tags"
    tag.run(
        Tag.model_validate({"input": (corpus,), "tagger_model": str(tmp_path / "tagger"), "link": False, "out": out})
    )
    mentions = list(read_table(out / "mentions.parquet", Mention))
    assert {one.type for one in mentions} == {"Chemical", "Disease"}


def test_accepts_dev_documents(tmp_path, corpus, write):
    dev = write("dev.txt", pubtator("500", "On zetin.", "None.", [("zetin", "Chemical", "D900001")]))
    metrics = trained(tmp_path / "tagger", train=(corpus,), dev=(dev,), epochs=1)
    assert metrics["documents"] == {"train": 20, "dev": 1}


def test_reachable_share_counts_mentions_off_word_borders(tmp_path, corpus, write):
    dev = write(
        "dev.txt", pubtator("500", "On zetin.", "No tremor.", [("zet", "Chemical", "D1"), ("tremor", "Disease", "D2")])
    )
    assert trained(tmp_path / "tagger", train=(corpus,), dev=(dev,), epochs=1)["reachable"] == 0.5


def test_measures_have_the_same_fields(tmp_path, corpus):
    metrics = trained(tmp_path / "tagger", train=(corpus,), held_out=6, epochs=3)
    assert set(metrics) == {"mentions", "reachable", "best_epoch", "documents"}
    assert 1 <= metrics["best_epoch"] <= 3
    assert set(metrics["mentions"]) == {"Chemical", "Disease"}
    for measure in metrics["mentions"].values():
        assert set(measure) == {"precision", "recall", "f1", "true_positives", "predicted", "gold"}
        assert 0 <= measure["true_positives"] <= min(measure["predicted"], measure["gold"])
    assert (metrics["mentions"]["Chemical"]["gold"], metrics["mentions"]["Disease"]["gold"]) == (12, 12)


def test_the_folder_is_complete_and_has_no_pickle(tmp_path, corpus):
    out = tmp_path / "tagger"
    trained(out, train=(corpus,), held_out=6, epochs=1)
    files = {path.relative_to(out).as_posix(): path for path in out.rglob("*") if path.is_file()}
    assert {"config.cfg", "meta.json", "tokenizer", "ner/model", "metrics.json", "README.md", "manifest.json"} <= set(
        files
    )
    # a pickle begins with 0x80 and its protocol; spaCy's empty tables are the one byte 0x80 of msgpack
    assert not [name for name, path in files.items() if PICKLE.match(path.read_bytes())]
    assert PICKLE.match(pickle.dumps({}))


def test_the_same_seed_writes_the_same_model(tmp_path, corpus):
    for name, seed in (("one", 1), ("two", 1), ("three", 2)):
        trained(tmp_path / name, train=(corpus,), held_out=6, epochs=2, seed=seed)
    one, two, three = ((tmp_path / name / "ner" / "model").read_bytes() for name in ("one", "two", "three"))
    assert one == two
    assert one != three


@pytest.mark.parametrize("bare", ["train", "dev"])
def test_rejects_files_without_gold_mentions(tmp_path, corpus, write, capsys, bare):
    out, files = tmp_path / "tagger", {"train": corpus, "dev": corpus}
    files[bare] = write("bare.txt", pubtator("1", "On zetin.", "None."))
    code, _, errors = command_line(capsys, "train-tagger", *flags(**files, out=out, epochs=1))
    assert code == 3
    assert errors.startswith(f"error: no document in the {'training' if bare == 'train' else bare} files has mentions")
    assert len(errors.splitlines()) == 2
    assert not list(tmp_path.glob("tagger*"))


@pytest.mark.parametrize("broken", ["train", "dev"])
@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("1\t3\t8\tzetin", "rows excluded: they are malformed: {}:3: neither an annotation nor a relation"),
        (
            "2\t3\t8\tzetin\tChemical\tD1",
            "rows excluded: they are malformed: {}:3: row with the id '2' under document 1",
        ),
    ],
)
def test_names_the_malformed_row_if_no_mention_remains(tmp_path, corpus, write, capsys, broken, row, expected):
    files = {"train": corpus, "dev": corpus}
    files[broken] = write("broken.txt", f"1|t|On zetin.\n1|a|None.\n{row}\n\n")
    code, _, errors = command_line(capsys, "train-tagger", *flags(**files, out=tmp_path / "tagger", epochs=1))
    assert code == 3
    assert f"files has mentions; {expected.format(files[broken])}" in errors.splitlines()[0]
    assert len(errors.splitlines()) == 2


def test_reports_rows_left_out_of_training(tmp_path, corpus, write):
    rows = "1\t3\t8\tzetin\n1\t9\tx\ty\n1\t0\t4\tache\tDisease\tD1\n1\t3\t8\tzetin\tChemical\tD1\n"
    broken = write("broken.txt", f"1|t|On zetin.\n1|a|None.\n{rows}\n")
    given = {"train": (corpus, broken), "held_out": 6, "epochs": 1, "out": tmp_path / "tagger"}
    recorder = Recorder()
    train_tagger.run(TrainTagger.model_validate(TINY | given), recorder)
    assert recorder.lines[:2] == [
        f"{Reason.ROW_MALFORMED}: {broken}:3: neither an annotation nor a relation (and 1 more)",
        f"{Reason.MENTION_SPAN_MISMATCH}: {broken} 1 0-4 'ache'",
    ]
    manifest = read_json(tmp_path / "tagger" / "manifest.json")
    assert manifest["counts"][Reason.ROW_MALFORMED] == 2
    assert manifest["examples"][Reason.ROW_MALFORMED][1].startswith(f"{broken}:4: ")


def test_too_few_documents_give_no_output(tmp_path, corpus, capsys):
    out = tmp_path / "tagger"
    with pytest.raises(InputError, match="only 20 training documents have mentions"):
        trained(out, train=(corpus,), held_out=20)
    assert not out.exists()
    code, _, errors = command_line(capsys, "train-tagger", *flags(train=tmp_path / "none.txt", out=out))
    assert code == 3
    assert "no such file" in errors
    assert not out.with_name("tagger.partial").exists()


def test_every_option_reaches_the_training(tmp_path, corpus, monkeypatch):
    """Every option differs from both defaults, so that a forgotten one shows."""
    from biorel.ner import spacy_training

    options: dict[str, Any] = {
        **{"width": 24, "depth": 3, "window": 2, "rows": 300, "hidden": 32, "known_from": 4, "dropout": 0.3},
        **{"epochs": 7, "batch": 5, "learning_rate": 0.02, "warmup": 11, "final_rate": 0.5, "seed": 9},
    }
    defaults = asdict(spacy_training.TrainingArguments())
    assert set(options) == set(defaults) == set(TrainTagger.model_fields) - {"train", "dev", "held_out", "out", "force"}
    assert all(value not in (defaults[name], TrainTagger.model_fields[name].default) for name, value in options.items())
    received = []

    def record(training, dev, arguments, folder):
        received.append(arguments)
        return iter(())

    monkeypatch.setattr(spacy_training, "train", record)
    train_tagger.run(
        TrainTagger.model_validate({"train": [corpus], "held_out": 2, "out": tmp_path / "tagger", **options})
    )
    assert [asdict(arguments) for arguments in received] == [options]
