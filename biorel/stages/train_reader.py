"""train-reader: questions -> a reader's model folder, of one network or of one for each fold."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config import TrainReader
from biorel.errors import InputError, ModelError
from biorel.model.checkpoint import load_weights, pick_device, save_weights
from biorel.reader.decoding import Decoding
from biorel.reader.network import Reader, ReaderSizes
from biorel.reader.passages import Cutter, Passage
from biorel.scoring.answer_choices import tune
from biorel.scoring.answers import Judged, measure
from biorel.stages.question_sets import QuestionSet, read_questions
from biorel.text.tokenizer import load_tokenizer, spellings
from biorel.training.checkpoint import FOLDER, TrainingState, restore_state
from biorel.training.loop import DevScore, Report, Schedule, train
from biorel.training.optim import WeightAverage, build_optimizer
from biorel.training.reader_folder import ReaderFolder, save_reader
from biorel.training.reading import ReaderWork
from biorel.training.vectors import load_vectors

Reports = Callable[[Iterable[Report]], Iterator[Report]]
_BEGUN = f"{FOLDER}/begun"


def run(config: TrainReader, reports: Reports = iter) -> Path:
    """Train and write the model folder `config.out`; returns it.

    Args:
        config: the command's configuration.
        reports: is given the stream of reports of each network and passes them on; a progress bar lives there.

    Raises:
        BiorelError: an empty split, a dev split without an answer, a checkpoint of another run.
    """
    device = pick_device(config.device)
    if config.threads:
        torch.set_num_threads(config.threads)
    tokenizer = load_tokenizer(config.questions / "tokenizer.json")
    parts = _parts(config)
    key = artifacts.fingerprint("train-reader", config)
    with artifacts.folder("train-reader", config, config.out, force=config.force, resume=_BEGUN) as artifact:
        artifact.notes["resumed"] = _begin(artifact, key, config.force)
        members, judged, rows = [], [], []
        for number, (training, dev) in enumerate(parts, start=1):
            member = _member(config, number, training, dev, tokenizer, artifact, key, device, reports)
            members.append(member.model)
            judged += member.judged
            rows += member.history
        decoding = tune(judged)
        metrics = _metrics(config, judged, decoding, rows, device)
        saved = ReaderFolder(tuple(members), tokenizer, decoding)
        save_reader(artifact.path, saved, metrics, _card(config, metrics, decoding))
        artifacts.write_json(artifact.path / "history.json", rows)
        shutil.rmtree(artifact.path / FOLDER)
        artifact.notes["device"] = str(device)
    return config.out


def _parts(config: TrainReader) -> list[tuple[QuestionSet, QuestionSet]]:
    """(training, dev) of each network; with --folds and --resplit-dev dev is drawn anew by seed."""
    training, dev = (read_questions(config.questions, split) for split in ("train", "dev"))
    parts = [(training, dev)]
    if config.folds > 1 or config.resplit_dev:
        both = training.joined(dev)
        order = sorted(both.texts, key=lambda doc_id: hashlib.sha256(f"{config.seed}:{doc_id}".encode()).digest())
        if len(order) < config.folds or len(order) <= config.resplit_dev:
            asked = f"--folds {config.folds}" if config.folds > 1 else f"--resplit-dev {config.resplit_dev}"
            raise InputError(f"{asked}: train and dev have {len(order)} documents together")
        if config.resplit_dev:
            drawn = [order[: config.resplit_dev]]
        else:
            drawn = [order[number :: config.folds] for number in range(config.folds)]
        parts = [(both.of(set(order) - set(chosen)), both.of(chosen)) for chosen in drawn]
    for training, dev in parts:
        if not any(question.answers for question in dev.questions):
            raise InputError(f"{config.questions}: no dev question has an answer", "decoding is chosen on them")
        if not any(question.answers for question in training.questions):
            raise InputError(f"{config.questions}: no train question has an answer", "there is nothing to learn")
    return parts


def _begin(artifact: Artifact, key: str, force: bool) -> bool:
    """Whether work of this run is there; that of another run stops the command, or is dropped with --force."""
    begun = artifact.path / _BEGUN
    if artifact.resumed:
        if begun.read_text(encoding="utf-8") == key:
            return True
        if not force:
            raise ModelError(
                f"{artifact.path}: left by a run with other data or parameters",
                f"give the same command again to resume it, or remove {artifact.path} to begin anew",
            )
        shutil.rmtree(begun.parent)
    begun.parent.mkdir(exist_ok=True)
    begun.write_text(key, encoding="utf-8")
    return False


@dataclass(frozen=True)
class _Member:
    model: Reader
    judged: list[Judged]
    history: list[dict[str, float]]


def _member(
    config: TrainReader,
    number: int,
    training: QuestionSet,
    dev: QuestionSet,
    tokenizer: Tokenizer,
    artifact: Artifact,
    key: str,
    device: torch.device,
    reports: Reports,
) -> _Member:
    """One network with the best weights on its dev questions, and what it finds for them."""
    torch.manual_seed(config.seed + number - 1)
    model = Reader(_sizes(config, tokenizer.get_vocab_size()))
    if config.vectors is not None:
        found = load_vectors(model.embedding, spellings(tokenizer), config.vectors, artifact.ledger)
        artifact.ledger.add("tokens with a pre-trained vector", count=found)
        model.embedding.weight.requires_grad_(not config.freeze_vectors)
    model.to(device)
    cutter = Cutter(tokenizer, config.window)
    asked = dev.passages(cutter)
    done = artifact.path / FOLDER / f"{number}.safetensors"
    history = done.with_suffix(".json")
    if history.is_file():
        load_weights(model, done)
        rows: list[dict[str, float]] = json.loads(history.read_text(encoding="utf-8"))
    else:

        def find() -> list[Judged]:
            return dev.judged([model], asked, config.eval_tokens, device)

        place = artifact.path / FOLDER / str(number)
        rows = _fit(config, number, model, training.passages(cutter), find, place, key, device, reports)
        save_weights(model, done)
        artifacts.write_json(history, rows)
    return _Member(model, dev.judged([model], asked, config.eval_tokens, device), rows)


def _fit(
    config: TrainReader,
    number: int,
    model: Reader,
    passages: Sequence[Passage],
    find: Callable[[], list[Judged]],
    checkpoint: Path,
    key: str,
    device: torch.device,
    reports: Reports,
) -> list[dict[str, float]]:
    """Train to the best weights on dev; returns the history.

    Args:
        find: what the network as it stands finds for the dev questions.
    """

    def score_dev() -> DevScore:
        judged = find()
        decoding = tune(judged)
        measures = measure(judged, decoding)
        told = {"f1": float(measures["located"]["f1"] or 0.0)}
        told |= {name: float(measures[name] or 0.0) for name in ("exact_match", "macro_f1")}
        told["entity_f1"] = float(measures["entities"].get("overall", {}).get("f1") or 0.0)
        return DevScore(told["f1"], told, {"threshold": decoding.threshold})

    optimizer = build_optimizer(
        model, rate=config.learning_rate, betas=(0.9, 0.999), epsilon=1e-8, weight_decay=config.weight_decay
    )
    state = TrainingState(model, optimizer, WeightAverage(model, config.ema))
    checkpoint.mkdir(exist_ok=True)
    restore_state(state, checkpoint, f"{key}:{number}")
    work = ReaderWork(model, passages, config.token_budget, config.seed + number - 1, device)
    schedule = Schedule(
        **{field.name: getattr(config, field.name) for field in fields(Schedule) if hasattr(config, field.name)}
    )
    for _ in reports(train(state, work, schedule, score_dev, checkpoint, f"{key}:{number}")):
        pass
    model.load_state_dict(state.best, strict=False)
    return [{"fold": float(number), **row} for row in state.history]


def _sizes(config: TrainReader, vocabulary: int) -> ReaderSizes:
    shared = {field.name for field in fields(ReaderSizes)} & set(TrainReader.model_fields)
    return ReaderSizes(vocabulary=vocabulary, **{name: getattr(config, name) for name in shared})


def _metrics(
    config: TrainReader,
    judged: list[Judged],
    decoding: Decoding,
    rows: list[dict[str, float]],
    device: torch.device,
) -> dict[str, Any]:
    measures = measure(judged, decoding)
    return {
        "dev_f1": measures["located"]["f1"],
        "dev": measures,
        "members": config.folds,
        "epochs": len(rows),
        "seed": config.seed,
        "device": str(device),
        "seconds_per_epoch": float(np.mean([row["seconds"] for row in rows])),
        "questions_per_second": float(np.mean([row["questions_per_second"] for row in rows])),
    }


def _card(config: TrainReader, metrics: dict[str, Any], decoding: Decoding) -> str:
    """The README of a reader's folder: what it was trained on, and how."""
    changed = {
        name: value
        for name, value in config
        if name not in ("questions", "out", "force", "threads") and value != TrainReader.model_fields[name].default
    }
    lines = [
        "# A reader of answers, trained by biorel",
        "",
        f"Head `{config.head}` over encoder `{config.encoder}`, trained on `{config.questions}`; epochs and decoding "
        f"were chosen on {metrics['dev']['questions']} dev questions, {metrics['dev']['answerable']} of them "
        "answerable.",
        "",
        f"Dev: exact match {100 * (metrics['dev']['exact_match'] or 0):.1f}, "
        f"macro F1 {100 * (metrics['dev']['macro_f1'] or 0):.1f}.",
        "",
        f"Decoding: {decoding.rule}, up to {decoding.longest} tokens, answers from {decoding.threshold:.3f}, "
        f"entities from {decoding.entity_threshold:.3f}.",
        "",
        "Options other than the defaults:",
        "",
        *(f"- `{name}`: {value}" for name, value in changed.items()),
    ]
    return "\n".join(lines) + "\n"
