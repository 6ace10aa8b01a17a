"""run: which stages run or are skipped, and faults that are reported before any stage starts."""

from __future__ import annotations

import shutil

import pytest

from biorel.commands import run
from biorel.config.run import Run
from biorel.errors import BiorelError, ConfigError, InputError
from tests.command_runs import REPOSITORY, SAMPLE, command_line, read_json
from tests.commands.pipelines import PIPELINE, STAGES
from tests.recorder import Recorder


def test_a_second_run_skips_every_stage_and_says_why(go, tmp_path):
    ran, decisions = go()
    assert ran == STAGES
    assert decisions == dict.fromkeys(STAGES, "runs, there is no output yet")
    out = tmp_path / "out"
    for name in ("dataset/stats.json", "model/model.safetensors", "evaluation/metrics.json", "relations.jsonl"):
        assert (out / name).is_file()
    assert read_json(out / "evaluation" / "metrics.json")["protocol"]["documents"] == 1
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in out.rglob("*") if path.is_file()}
    ran, decisions = go()
    assert ran == []
    assert decisions == dict.fromkeys(STAGES, "skipped, nothing that it depends on has changed")
    after = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in out.rglob("*") if path.is_file()}
    assert after == before


@pytest.mark.parametrize(
    ("change", "expected", "why"),
    [
        ("dataset.vocabulary=280", STAGES, "runs again, changed: vocabulary"),
        ("model.epochs=2", STAGES[1:], "runs again, changed: epochs"),
        ("evaluation.split=dev", ["evaluation"], "runs again, changed: split"),
        ("relations.min_score=0.5", ["relations"], "runs again, changed: min_score"),
    ],
)
def test_a_changed_option_reruns_the_stages_that_depend_on_it(go, change, expected, why):
    go()
    ran, decisions = go(set=(change,))
    assert ran == expected
    assert decisions[expected[0]] == why
    assert all(decisions[name] == "runs again, changed: an input" for name in expected[1:])
    assert all(decisions[name].startswith("skipped") for name in STAGES if name not in expected)
    assert go(set=(change,))[0] == []


def test_options_without_effect_on_the_result_rerun_nothing(go):
    go()
    assert go(device="cpu")[0] == []
    assert go(set=("model.threads=2", "relations.threads=2"))[0] == []


def test_the_seed_goes_to_every_stage_that_takes_one(go, tmp_path):
    go()
    ran, decisions = go(seed=7)
    assert ran == STAGES[1:]
    assert decisions["model"] == "runs again, changed: seed"
    assert read_json(tmp_path / "out" / "model" / "metrics.json")["seed"] == 7


def test_a_changed_input_reruns_the_stages_that_read_it(go, data):
    go()
    curations = data / "ctd" / "CTD_chemicals_diseases.csv"
    curations.write_text(curations.read_text().replace("therapeutic", "marker/mechanism", 1))
    ran, decisions = go()
    assert ran == STAGES
    assert decisions["dataset"] == "runs again, changed: an input"


def test_a_deleted_output_is_made_again(go, tmp_path):
    go()
    shutil.rmtree(tmp_path / "out" / "evaluation")
    (tmp_path / "out" / "relations.jsonl").unlink()
    assert go()[0] == ["evaluation", "relations"]


def test_a_failed_stage_leaves_earlier_outputs_in_place(go, data, tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.txt: no such file"):
        go(set=(f"relations.input={data / 'nowhere.txt'}",))
    ran, decisions = go()
    assert ran == ["relations"]
    assert decisions["relations"] == "runs, there is no output yet"


def test_a_dry_run_reports_the_stages_and_writes_nothing(go, tmp_path):
    ran, decisions = go(dry_run=True)
    assert ran == []
    assert decisions == dict.fromkeys(STAGES, "runs, there is no output yet")
    assert not (tmp_path / "out").exists()
    go()
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")}
    ran, decisions = go(dry_run=True, set=("model.epochs=3",))
    assert ran == []
    assert decisions == {
        "dataset": "skipped, nothing that it depends on has changed",
        "model": "runs again, changed: epochs",
        "evaluation": "runs again, after model",
        "relations": "runs again, after model",
    }
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")} == before


def test_finds_a_shipped_pipeline_outside_a_checkout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    recorder = Recorder()
    given = {"pipeline": "pipelines/sample.toml", "data": SAMPLE, "out": tmp_path / "out", "dry_run": True}
    run.run(Run.model_validate(given), recorder)
    assert [line.partition(":")[0] for line in recorder.lines] == STAGES


SHIPPED = sorted(path.relative_to(REPOSITORY) for path in (REPOSITORY / "pipelines").rglob("*.toml"))


@pytest.mark.parametrize("name", SHIPPED, ids=str)
def test_every_shipped_pipeline_is_valid(tmp_path, name):
    recorder = Recorder()
    given = {"pipeline": name, "data": tmp_path, "out": tmp_path / "out", "dry_run": True}
    assert run.run(Run.model_validate(given), recorder).details["ran"] == []
    assert len(recorder.lines) >= 3
    assert all(line.endswith("runs, there is no output yet") for line in recorder.lines)


def test_a_model_can_be_exported_in_a_pipeline(pipeline, go, tmp_path):
    pytest.importorskip("onnx")
    pipeline.write_text(PIPELINE)
    assert go()[0] == [*STAGES, "onnx"]
    assert list((tmp_path / "out" / "onnx").glob("*.onnx"))
    assert go()[0] == []


# ---- faults


FAULTS: dict[str, tuple[str, type[BiorelError], str]] = {
    "no TOML": ("[[stage\n", InputError, "not TOML"),
    "empty": ("", ConfigError, r"a pipeline is a list of \[\[stage\]\]"),
    "no list": ('stage = "x"\n', ConfigError, r"a pipeline is a list of \[\[stage\]\]"),
    "a table": ('[stage]\nname = "a"\n', ConfigError, r"a pipeline is a list of \[\[stage\]\]"),
    "no name": ('[[stage]]\ncommand = "train"\n', ConfigError, "each with a unique name"),
    "one name twice": ('[[stage]]\nname = "a"\ncommand = "x"\n' * 2, ConfigError, "each with a unique name"),
    "a name that leads elsewhere": ('[[stage]]\nname = "../a"\ncommand = "train"\n', ConfigError, "a unique name"),
    "unknown command": (
        '[[stage]]\nname = "a"\ncommand = "fly"\n',
        ConfigError,
        "stage a: command must be one of extract",
    ),
    "no command": ('[[stage]]\nname = "a"\n', ConfigError, "stage a: command must be one of"),
    "unknown field": (
        '[[stage]]\nname = "a"\ncommand = "train"\ndataset = "x"\nwings = 2\n',
        ConfigError,
        "stage a: --wings: Extra inputs are not permitted",
    ),
    "unknown place": (
        '[[stage]]\nname = "a"\ncommand = "train"\ndataset = "{b}"\n',
        ConfigError,
        "stage a: {b} has no value",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_rejects_a_malformed_pipeline(pipeline, go, tmp_path, name):
    content, kind, fault = FAULTS[name]
    pipeline.write_text(content)
    with pytest.raises(kind, match=fault):
        go()
    assert not (tmp_path / "out").exists()


def test_reports_a_fault_in_the_last_stage_before_the_first_stage_runs(pipeline, go, tmp_path):
    with pytest.raises(ConfigError, match="stage relations: --min-score: Input should be less than or equal to 1"):
        go(set=("relations.min_score=3",))
    pipeline.write_text(pipeline.read_text().replace('model = "{model}"\nmin_score', 'model = "{modle}"\nmin_score'))
    with pytest.raises(ConfigError, match=r"stage relations: \{modle\} has no value") as error:
        go()
    assert error.value.hint == "placeholders are out, data, dataset, model, evaluation"
    assert not (tmp_path / "out").exists()


def test_reports_all_faults_of_a_stage_at_once(go):
    with pytest.raises(ConfigError, match=r"stage model: --width: .*; --epochs: "):
        go(set=("model.epochs=0", "model.width=1"))


def test_reports_a_missing_data_folder(go):
    with pytest.raises(ConfigError, match=r"stage dataset: \{data\} has no value") as error:
        go(data=None)
    assert error.value.hint == "give --data FOLDER"


@pytest.mark.parametrize("change", ["model.epochs", "epochs=2", "nosuch.epochs=2", "=2"])
def test_rejects_a_malformed_change(go, change):
    with pytest.raises(ConfigError, match=r"not STAGE\.FIELD=VALUE") as error:
        go(set=(change,))
    assert "dataset, model, evaluation, relations" in error.value.hint


def test_reads_the_value_of_a_change_as_toml_or_as_text(go, data, tmp_path):
    other = tmp_path / "other.txt"
    shutil.copyfile(data / "abstracts.txt", other)
    go(set=(f'dataset.documents=["{other}"]', "dataset.unlinked=merge", "evaluation.plots=true"))
    written = read_json(tmp_path / "out" / "dataset" / "manifest.json")["config"]
    assert (written["documents"], written["unlinked"]) == ([str(other)], "merge")
    assert (tmp_path / "out" / "evaluation" / "curves.png").is_file()


def test_the_command_line_prints_a_fault_as_one_line_and_a_hint(pipeline, tmp_path, capsys):
    for arguments, code in (
        (["nowhere.toml"], 3),
        ([pipeline], 2),
        ([pipeline, "--data", tmp_path, "--set", "x"], 2),
    ):
        got, _, decisions = command_line(capsys, "run", *arguments, "--out", tmp_path / "out")
        assert got == code
        assert [line.partition(":")[0] for line in decisions.splitlines()] == ["error", "hint"]
    assert not (tmp_path / "out").exists()
