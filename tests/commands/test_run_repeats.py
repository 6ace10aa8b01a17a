"""run --seeds and --folds: which stages are copied or shared, and the summaries."""

from __future__ import annotations

import shutil
from statistics import fmean, stdev

import pytest

from biorel.errors import ConfigError
from tests.command_runs import read_json
from tests.commands.pipelines import STAGES, pipeline_data, run_pipeline

TOGETHER = """
[[stage]]
name = "ensemble"
command = "ensemble"
model = ["{model}"]

[[stage]]
name = "ensemble_evaluation"
command = "evaluate"
model = "{ensemble}"
dataset = "{dataset}"
plots = false
"""
COPIES = [f"seed-{seed}/{name}" for seed in (1, 2) for name in STAGES[1:]]


def test_stages_that_take_a_seed_and_their_dependents_run_once_for_each_seed(go, tmp_path):
    ran, decisions = go(seeds=2)
    assert ran == ["dataset", *COPIES]
    assert decisions == dict.fromkeys(ran, "runs, there is no output yet")
    out = tmp_path / "out"
    assert sorted(path.name for path in out.iterdir()) == ["dataset", "seed-1", "seed-2", "seeds.json", "seeds.md"]
    for seed in (1, 2):
        assert read_json(out / f"seed-{seed}" / "model" / "metrics.json")["seed"] == seed
        evaluated = read_json(out / f"seed-{seed}" / "evaluation" / "manifest.json")["config"]
        assert evaluated["model"] == str(out / f"seed-{seed}" / "model")
        assert (out / f"seed-{seed}" / "relations.jsonl").is_file()

    ran, decisions = go(seeds=2)
    assert ran == []
    assert set(decisions.values()) == {"skipped, nothing that it depends on has changed"}
    assert go(seeds=2, set=("evaluation.split=dev",))[0] == ["seed-1/evaluation", "seed-2/evaluation"]
    _, decisions = go(seeds=3, dry_run=True, set=("evaluation.split=dev", "model.epochs=2"))
    assert decisions["seed-2/model"] == "runs again, changed: epochs"
    assert decisions["seed-2/relations"] == "runs again, after seed-2/model"
    assert decisions["seed-3/model"] == "runs, there is no output yet"
    assert not (out / "seed-3").exists()


def test_a_seed_that_ran_separately_is_reused(go, tmp_path):
    out = tmp_path / "out"
    go(seed=2, out=out / "seed-2")
    assert go(seeds=2, out=out)[0] == ["dataset", *(label for label in COPIES if label.startswith("seed-1"))]


@pytest.mark.slow
def test_the_summary_holds_mean_and_deviation_over_the_seeds(go, tmp_path):
    go(seeds=3, set=("evaluation.split=train", "model.epochs=3"))
    out = tmp_path / "out"
    summary = read_json(out / "seeds.json")
    assert summary["seeds"] == [1, 2, 3]
    (name,) = summary["stages"]
    measures = summary["stages"][name]["measures"]
    scores = [read_json(out / f"seed-{seed}" / name / "metrics.json") for seed in (1, 2, 3)]
    models = [read_json(out / f"seed-{seed}" / "model" / "metrics.json") for seed in (1, 2, 3)]
    expected = {
        "recall": [score["micro"]["recall"] for score in scores],
        "f1": [score["micro"]["f1"] for score in scores],
        "f1_unfiltered": [score["unfiltered"]["micro"]["f1"] for score in scores],
        "dev_f1": [model["dev_f1"] for model in models],
        "documents_per_second": [model["documents_per_second"] for model in models],
        "training_seconds": [3 * model["seconds_per_epoch"] for model in models],
    }
    for measure, values in expected.items():
        assert measures[measure]["values"] == values
        assert measures[measure]["mean"] == pytest.approx(fmean(values))
        assert measures[measure]["deviation"] == pytest.approx(stdev(values))
    assert len(set(expected["documents_per_second"])) == 3
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in (out / "seeds.md").read_text().splitlines()]
    (f1,) = (row for row in rows if row and row[0] == "F1")
    assert f1[1] == f"{100 * fmean(expected['f1']):.1f}"
    assert f1[3:] == [f"{100 * value:.1f}" for value in expected["f1"]]


def test_a_stage_independent_of_the_seed_runs_once(pipeline, go):
    pipeline.write_text(
        pipeline.read_text() + '[[stage]]\nname = "shipped"\ncommand = "extract"\ninput = "{data}/abstracts.txt"\n'
    )
    _, decisions = go(seeds=2, dry_run=True)
    assert list(decisions) == ["dataset", *COPIES, "shipped"]


def test_an_ensemble_takes_the_models_of_all_seeds(pipeline, go, tmp_path):
    pipeline.write_text(pipeline.read_text() + TOGETHER)
    out = tmp_path / "out"
    assert go(seeds=2)[0] == ["dataset", *COPIES, "ensemble", "ensemble_evaluation"]
    members = read_json(out / "ensemble" / "manifest.json")["config"]["model"]
    assert members == [str(out / f"seed-{seed}" / "model") for seed in (1, 2)]
    summary = read_json(out / "seeds.json")["stages"]
    assert summary["evaluation"]["seeds"] == [1, 2]
    assert summary["ensemble_evaluation"]["seeds"] == []
    once = read_json(out / "ensemble_evaluation" / "metrics.json")["micro"]["f1"]
    assert summary["ensemble_evaluation"]["measures"]["f1"] == {"mean": once, "deviation": None, "values": [once]}
    assert "## ensemble_evaluation, one run" in (out / "seeds.md").read_text()

    assert go(seeds=2)[0] == []
    _, decisions = go(seeds=3, dry_run=True)
    assert decisions["seed-2/model"].startswith("skipped")
    assert decisions["ensemble"] == "runs again, changed: model"
    assert decisions["ensemble_evaluation"] == "runs again, after ensemble"


def test_without_seeds_an_ensemble_has_one_member(pipeline, go, tmp_path):
    pipeline.write_text(pipeline.read_text() + TOGETHER)
    assert go()[0] == [*STAGES, "ensemble", "ensemble_evaluation"]
    one, other = (
        read_json(tmp_path / "out" / name / "metrics.json")["micro"] for name in ("evaluation", "ensemble_evaluation")
    )
    assert one == other


def test_rejects_several_models_in_a_field_for_one(pipeline, go):
    pipeline.write_text(pipeline.read_text() + TOGETHER.replace('["{model}"]', '"{model}"'))
    with pytest.raises(ConfigError, match="stage ensemble: model names several outputs") as error:
        go(seeds=2)
    assert error.value.hint == 'write model = ["..."], a list'


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"seeds": 2, "folds": 3}, "--seeds and --folds exclude each other"),
        ({"seeds": 2, "seed": 1}, "leave out --seed"),
    ],
)
def test_rejects_contradicting_flags(go, options, fault):
    with pytest.raises(ValueError, match=fault):
        go(**options)


def test_rejects_seeds_for_a_pipeline_without_a_seed(pipeline, go, tmp_path):
    dataset, _, _ = pipeline.read_text().partition('[[stage]]\nname = "model"')
    pipeline.write_text(dataset)
    with pytest.raises(ConfigError, match=r"--seeds: no stage of .* takes a seed"):
        go(seeds=2)
    assert not (tmp_path / "out").exists()


def test_rejects_a_stage_named_like_the_folder_of_a_seed(pipeline, go):
    pipeline.write_text(pipeline.read_text().replace("dataset}", "seed-1}").replace('"dataset"', '"seed-1"'))
    with pytest.raises(ConfigError, match=r"stage seed-1: .*seed-1 is the folder of a seed"):
        go(seeds=2)
    assert go(dry_run=True)[1]["seed-1"] == "runs, there is no output yet"


def test_reports_a_fault_in_a_copy_with_the_name_of_its_stage(pipeline, data, tmp_path):
    with pytest.raises(ConfigError, match="stage model: --width"):
        run_pipeline(pipeline, data, tmp_path / "out", seeds=2, set=("model.width=1",))


# ---- folds


FOLDS = [f"fold-{fold}/{name}" for fold in (1, 2, 3) for name in STAGES]


@pytest.fixture
def unsplit(pipeline):
    """The pipeline without its list of splits, so that the dataset draws them."""
    pipeline.write_text(pipeline.read_text().replace('splits = "{data}/splits.tsv"\n', "keep_empty = true\n"))
    return pipeline


@pytest.mark.slow
def test_cross_validates_a_dataset_that_draws_its_split(unsplit, data, tmp_path):
    shutil.rmtree(data)
    pipeline_data(data, documents=12)
    out = tmp_path / "out"
    ran, _ = run_pipeline(unsplit, data, out, folds=3, set=("model.epochs=3",))
    assert ran == FOLDS
    summary = read_json(out / "folds.json")
    assert summary["folds"] == 3
    summed, parts = (
        summary["stages"]["evaluation"],
        [read_json(out / f"fold-{fold}" / "evaluation" / "metrics.json") for fold in (1, 2, 3)],
    )
    assert summed["documents"] == 12 == sum(part["protocol"]["documents"] for part in parts)
    assert summed["micro"]["gold"] > 0
    for count in ("true_positives", "predicted", "gold"):
        assert summed["micro"][count] == sum(part["micro"][count] for part in parts)
        for table in ("unfiltered", "every_pair"):
            assert summed[table]["micro"][count] == sum(part[table]["micro"][count] for part in parts)
        for label, row in summed["by_relation"].items():
            assert row[count] == sum(part["by_relation"][label][count] for part in parts)
    text = (out / "folds.md").read_text()
    assert "12 documents" in text
    assert "Macro, F1 of mean P and R" in text
    assert "increases_expression" in text
    assert "every pair, as its types' most frequent relation" in text

    assert run_pipeline(unsplit, data, out, folds=3, set=("model.epochs=3",))[0] == []
    _, decisions = run_pipeline(unsplit, data, out, folds=4, dry_run=True)
    assert decisions["fold-1/dataset"] == "runs again, changed: folds"


def test_folds_replace_split_sizes_and_every_fold_has_its_own_ensemble(unsplit, go):
    unsplit.write_text(unsplit.read_text() + TOGETHER)
    _, decisions = go(folds=3, dry_run=True, seed=5, set=("dataset.split_sizes=[4, 1, 1]",))
    names = [*STAGES, "ensemble", "ensemble_evaluation"]
    assert list(decisions) == [f"fold-{fold}/{name}" for fold in (1, 2, 3) for name in names]


def test_rejects_folds_for_a_pipeline_with_given_splits(go, tmp_path):
    with pytest.raises(ConfigError, match=r"--folds: no stage of .* takes a fold") as error:
        go(folds=3)
    assert "if it draws the split itself" in error.value.hint
    assert not (tmp_path / "out").exists()
