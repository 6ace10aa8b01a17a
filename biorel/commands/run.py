"""run: runs a whole pipeline from one TOML file, without the stages whose options and inputs have not changed.

Every stage writes `OUT/NAME`; `pipeline.repeats` describes the outputs with `--seeds` and `--folds`. The manifest of a
stage contains a fingerprint of its options and inputs. A stage is skipped if this fingerprint is still the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.commands import COMMANDS
from biorel.config import Config, load
from biorel.config.run import Run
from biorel.errors import ConfigError
from biorel.pipeline import summaries
from biorel.pipeline.repeats import Plan, Repeats, Stage
from biorel.pipeline.stages import StageKind
from biorel.progress import SILENT, Progress


def run(config: Run, progress: Progress = SILENT) -> Artifact:
    """Run the stages of a pipeline in order.

    With `--seeds` or `--folds`, the evaluations of all copies are summarised in `OUT/seeds.json` and `seeds.md`, or
    in `OUT/folds.json` and `folds.md`.

    Returns:
        The folder of all stages; `details["ran"]` lists the labels of the stages that ran, such as `seed-1/model`.

    Raises:
        BiorelError: the pipeline is invalid, or a stage failed. The stages before it keep their outputs.
    """
    repeats = _repeats(config)
    everywhere = {"seed": config.seed, "device": config.device}
    plan = Plan(
        pipeline=config.pipeline,
        out=config.out,
        data=config.data,
        changes=config.set,
        everywhere={name: value for name, value in everywhere.items() if value is not None},
        repeats=repeats,
    )
    stages = plan.stages(_kinds())
    # all options are validated before the first stage runs
    configs = [_configure(stage) for stage in stages]
    due: set[str] = set()
    for stage, options in zip(stages, configs, strict=True):
        reason = _reason_to_run(stage, options)
        if config.dry_run and not reason and due & stage.uses:
            reason = f"runs again, after {', '.join(sorted(due & stage.uses))}"
        progress.line(f"{stage.label}: {reason or 'skipped, nothing that it depends on has changed'}")
        if reason:
            due.add(stage.label)
        if reason and not config.dry_run:
            _run_stage(stage, options, progress)
    if repeats is not None and not config.dry_run:
        progress.line(summaries.write(config.out, repeats, stages))
    return _result(config, [stage.label for stage in stages if stage.label in due])


def _repeats(config: Run) -> Repeats | None:
    if config.seeds is not None:
        return Repeats("seed", config.seeds)
    return Repeats("fold", config.folds) if config.folds is not None else None


def _kinds() -> Mapping[str, StageKind]:
    """What the pipeline must know about each command that may be a stage."""
    return {
        name: StageKind(frozenset(command.config_class.model_fields), command.suffix, command.gathers)
        for name, command in COMMANDS.items()
        if command.in_pipelines
    }


def _configure(stage: Stage) -> Config:
    try:
        return load(COMMANDS[stage.command].config_class, stage.values)
    except ConfigError as error:
        raise ConfigError(f"stage {stage.name}: {error.message}", error.hint) from error


def _run_stage(stage: Stage, options: Config, progress: Progress) -> None:
    command = COMMANDS[stage.command]
    if "force" in command.config_class.model_fields:
        options = options.model_copy(update={"force": True})
    made = command.run(options, progress)
    for line in made.summary:
        progress.line(line)
    if command.suffix:
        # a file cannot hold a manifest
        content = {
            "fingerprint": artifacts.fingerprint(stage.command, options.options()),
            "config": artifacts.plain(options.options()),
        }
        artifacts.write_json(_manifest_path(stage.out), content)


def _manifest_path(out: Path) -> Path:
    return out / artifacts.MANIFEST if not out.suffix else out.with_suffix(".manifest.json")


def _reason_to_run(stage: Stage, options: Config) -> str:
    """The reason why the stage must run; empty if the stage's output is up to date."""
    path = _manifest_path(stage.out)
    if not stage.out.exists() or not path.is_file():
        return "runs, there is no output yet"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    if manifest.get("fingerprint") == artifacts.fingerprint(stage.command, options.options()):
        return ""
    now, before = artifacts.plain(options.options()), manifest.get("config", {})
    changed = [name for name in now if name != "force" and now[name] != before.get(name)]
    return f"runs again, changed: {', '.join(changed) if changed else 'an input'}"


def _result(config: Run, due: Sequence[str]) -> Artifact:
    if config.dry_run:
        return Artifact(label="pipeline", details={"ran": []}, summary=[f"to run: {', '.join(due) or 'nothing'}"])
    summary = [f"ran: {', '.join(due) or 'nothing, all outputs are up to date'}"]
    return Artifact(label="pipeline", path=config.out, summary=summary, details={"ran": list(due)})
