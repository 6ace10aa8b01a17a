"""run: a whole pipeline from one TOML file; a stage whose inputs and parameters did not change is skipped.

    [[stage]]
    name = "dataset"
    command = "build-dataset"
    train = ["{data}/cdr/train.txt"]

    [[stage]]
    name = "model"
    command = "train"
    dataset = "{dataset}"

`{data}` is --data, `{NAME}` the output of an earlier stage; every stage writes `OUT/NAME`. The fingerprint in a stage's
manifest says what it was made from; where it is the same, the stage is skipped.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biorel import artifacts, config
from biorel.config import Config, Run
from biorel.errors import ConfigError, InputError
from biorel.resources import shipped_pipeline
from biorel.stages import build_dataset, build_linker, evaluate, export, extract, tag, train, train_tagger

Progress = Callable[[str], None]
_NAME = re.compile(r"[\w-]+")
_PLACE = re.compile(r"\{([\w-]+)\}")


@dataclass(frozen=True)
class Command:
    """A command that may stand in a pipeline: its configuration, how to run it, the suffix of its output."""

    kind: type[Config]
    run: Callable[[Any, Progress], object]
    suffix: str = ""


@dataclass(frozen=True)
class Stage:
    """One stage as it will run; `uses` are the places that it names."""

    name: str
    command: str
    config: Config
    out: Path
    uses: frozenset[str]


COMMANDS = {
    "build-dataset": Command(config.BuildDataset, build_dataset.run),
    "train": Command(config.Train, lambda given, progress: train.run(given, lambda reports: _told(reports, progress))),
    "evaluate": Command(config.Evaluate, evaluate.run),
    "extract": Command(config.Extract, lambda given, _: extract.run(given), ".jsonl"),
    "tag": Command(config.Tag, tag.run),
    "train-tagger": Command(config.TrainTagger, train_tagger.run),
    "build-linker": Command(config.BuildLinker, build_linker.run),
    "export": Command(config.Export, export.run),
}


def _told(reports: Any, progress: Progress) -> Any:
    for report in reports:
        if report.dev is not None:
            progress(
                f"  epoch {report.epoch}: loss {report.loss:.3f}, dev F1 {100 * report.dev.f1:.1f}, "
                f"NER F1 {100 * report.dev.ner_f1:.1f}, {report.documents_per_second:.1f} docs/s"
            )
        yield report


def run(given: Run, progress: Progress = lambda line: None) -> list[str]:
    """Run the stages in order; returns the names of those that ran.

    Raises:
        BiorelError: the pipeline is no valid TOML or names what there is not, or a stage failed; the
            stages before it keep their outputs.
    """
    ran = []
    due: set[str] = set()
    for stage in _plan(given):
        command, configured = COMMANDS[stage.command], stage.config
        reason = _reason(stage.command, configured, stage.out)
        if given.dry_run and not reason and due & stage.uses:
            reason = f"runs again, after {', '.join(sorted(due & stage.uses))}"
        progress(f"{stage.name}: {reason or 'skipped, nothing that it depends on has changed'}")
        if reason:
            due.add(stage.name)
        if reason and not given.dry_run:
            if "force" in command.kind.model_fields:
                configured = configured.model_copy(update={"force": True})
            command.run(configured, progress)
            ran.append(stage.name)
            if command.suffix:
                _sign(stage.command, configured, stage.out)
    return ran


def _plan(given: Run) -> list[Stage]:
    """All stages, configured before the first of them runs: a fault in the last one costs no training."""
    planned = []
    places = {"out": str(given.out)} | ({"data": str(given.data)} if given.data else {})
    for stage in _stages(given):
        name, command = str(stage.pop("name")), stage.pop("command")
        kind, suffix = COMMANDS[command].kind, COMMANDS[command].suffix
        out = given.out / f"{name}{suffix}"
        values = _filled(stage, places, name) | _given_to_all(given, kind)
        places[name] = str(out)
        uses = frozenset(_PLACE.findall(json.dumps(stage, default=str)))
        planned.append(Stage(name, command, _configure(kind, name, values | {"out": str(out)}), out, uses))
    return planned


def _stages(given: Run) -> list[dict[str, Any]]:
    """The stages of the pipeline file, with --set applied."""
    path = given.pipeline
    if not path.is_file() and path.parts[:1] == ("pipelines",):
        path = shipped_pipeline(path.name) or path
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"{path}: {error.strerror or error}", "name a pipeline TOML, such as pipelines/cdr.toml"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path}: not TOML ({error})") from error
    stages: list[dict[str, Any]] = content.get("stage", [])
    tables = isinstance(stages, list) and all(isinstance(stage, dict) for stage in stages)
    names = [str(stage.get("name", "")) for stage in stages] if tables else []
    if not names or not all(map(_NAME.fullmatch, names)) or len(set(names)) < len(names):
        raise ConfigError(
            f"{path}: a pipeline is a list of [[stage]], each with a name of its own",
            "a name is of letters, digits, - and _",
        )
    for stage in stages:
        if str(stage.get("command")) not in COMMANDS:
            raise ConfigError(f"{path}: stage {stage['name']}: command is one of {', '.join(COMMANDS)}")
    for change in given.set:
        place, equals, value = change.partition("=")
        name, dot, field = place.partition(".")
        if not equals or not dot or name not in names:
            raise ConfigError(f"--set {change}: not STAGE.FIELD=VALUE", f"stages are {', '.join(map(str, names))}")
        stages[names.index(name)][field] = _literal(value)
    return stages


def _literal(value: str) -> Any:
    """A value as TOML reads it, or the text itself."""
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return value


def _filled(value: Any, places: Mapping[str, str], stage: str) -> Any:
    """The value with every {place} replaced."""
    if isinstance(value, dict):
        return {name: _filled(item, places, stage) for name, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, places, stage) for item in value]
    if not isinstance(value, str):
        return value
    missing = [name for name in _PLACE.findall(value) if name not in places]
    if missing:
        hint = "give --data FOLDER" if missing[0] == "data" else f"places are {', '.join(places)}"
        raise ConfigError(f"stage {stage}: nothing stands for {{{missing[0]}}}", hint)
    return _PLACE.sub(lambda match: places[match[1]], value)


def _given_to_all(given: Run, kind: type[Config]) -> dict[str, Any]:
    values = {"seed": given.seed, "device": given.device}
    return {name: value for name, value in values.items() if value is not None and name in kind.model_fields}


def _configure(kind: type[Config], name: str, values: dict[str, Any]) -> Config:
    try:
        return config.load(kind, values)
    except ConfigError as error:
        raise ConfigError(f"stage {name}: {error.message}", error.hint) from error


def _manifest_path(out: Path) -> Path:
    return out / artifacts.MANIFEST if not out.suffix else out.with_suffix(".manifest.json")


def _reason(command: str, configured: Config, out: Path) -> str:
    """Why the stage must run; empty where it need not."""
    path = _manifest_path(out)
    if not out.exists() or not path.is_file():
        return "runs, there is no output yet"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    if manifest.get("fingerprint") == artifacts.fingerprint(command, configured):
        return ""
    now, before = configured.model_dump(mode="json", by_alias=True), manifest.get("config", {})
    changed = [field for field in now if field != "force" and now[field] != before.get(field)]
    return f"runs again, changed: {', '.join(changed) if changed else 'an input'}"


def _sign(command: str, configured: Config, out: Path) -> None:
    """A file has no manifest of its own: put one beside it."""
    artifacts.write_json(
        _manifest_path(out),
        {
            "fingerprint": artifacts.fingerprint(command, configured),
            "config": configured.model_dump(mode="json", by_alias=True),
        },
    )
