"""run with readers over seeds: a reader for each seed, and a table with mean and deviation of all measures."""

from __future__ import annotations

from biorel.commands import run
from biorel.config.run import Run
from tests.command_runs import read_json
from tests.qa.question_samples import stories

PIPELINE = """
[[stage]]
name = "dataset"
command = "build-dataset"
train = ["{data}/train.txt"]
dev = ["{data}/dev.txt"]
test = ["{data}/test.txt"]
schema = "cdr"
hypernyms = "off"
vocabulary = 200

[[stage]]
name = "questions"
command = "build-questions"
dataset = "{dataset}"

[[stage]]
name = "reader"
command = "train-reader"
questions = "{questions}"
head = "matrix"
width = 8
embedding = 8
positions = 4
dilations = [1, 2]
epochs = 1
threads = 1
resplit_dev = 4

[[stage]]
name = "answers"
command = "evaluate-reader"
model = "{reader}"
questions = "{questions}"
known = "{data}/known.tsv"

[[stage]]
name = "asked"
command = "ask"
question = "Which diseases does lithium induce?"
over = ["{data}/test.txt"]
model = "{reader}"
min_score = 0
"""


def test_a_pipeline_summarises_readers_of_two_seeds(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    for name, numbers in (("train", range(12)), ("dev", range(12, 18)), ("test", range(18, 24))):
        stories(data, name, numbers)
    (data / "known.tsv").write_text("".join(f"D00000{one}\tD10000{other}\n" for one in range(6) for other in range(6)))
    (tmp_path / "p.toml").write_text(PIPELINE)
    given = Run(pipeline=tmp_path / "p.toml", data=data, out=tmp_path / "out", seeds=2)
    ran = run.run(given).details["ran"]
    copies = [f"seed-{seed}/{name}" for seed in (1, 2) for name in ("reader", "answers", "asked")]
    assert ran == ["dataset", "questions", *copies]
    measures = read_json(tmp_path / "out" / "seeds.json")["stages"]["answers"]["measures"]
    expected = ("exact_match", "macro_f1", "tail_f1", "head_f1", "mrr_smoothed", "mrr_max", "training_seconds")
    assert all(len(measures[name]["values"]) == 2 for name in expected)
    # every tail of this corpus is known, so the first answer is correct
    assert set(measures["mrr_smoothed"]["values"]) == {1.0}
    assert "exact match of answerable questions" in (tmp_path / "out" / "seeds.md").read_text()
    assert run.run(given).details["ran"] == []
