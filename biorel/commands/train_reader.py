"""train-reader: questions -> a reader's model folder, of one network or of one for each fold."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import torch

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config import TrainReader
from biorel.dataset.splits import drawn_order
from biorel.errors import InputError
from biorel.model.checkpoint import pick_device
from biorel.qa.decoding import Decoding
from biorel.qa.decoding_choices import tune
from biorel.qa.folder import ReaderFolder, save_reader
from biorel.qa.metrics import Judged, measure
from biorel.qa.question_sets import QuestionSet, read_questions
from biorel.qa.training import Job, Reports, train_member
from biorel.text.tokenizer import load_tokenizer
from biorel.training.bert_start import open_bert
from biorel.training.checkpoint import FOLDER, of_another_run
from biorel.training.loop import pace
from biorel.training.model_card import options_told

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
    bert = open_bert(config)
    tokenizer = load_tokenizer(config.questions) if bert is None else bert.tokens.tokenizer
    parts = _parts(config)
    key = artifacts.fingerprint("train-reader", config)
    with artifacts.folder("train-reader", config, config.out, force=config.force, resume=_BEGUN) as artifact:
        artifact.notes["resumed"] = _begin(artifact, key, config.force)
        job = Job(config, tokenizer, bert, artifact, key, device, reports)
        members, judged, rows = [], [], []
        for number, (training, dev) in enumerate(parts, start=1):
            member = train_member(job, number, training, dev)
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
        order = drawn_order(both.texts, config.seed)
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
            raise of_another_run(artifact.path, artifact.path)
        shutil.rmtree(begun.parent)
    begun.parent.mkdir(exist_ok=True)
    begun.write_text(key, encoding="utf-8")
    return False


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
        **pace(rows, "questions"),
    }


def _card(config: TrainReader, metrics: dict[str, Any], decoding: Decoding) -> str:
    """The README of a reader's folder: what it was trained on, and how."""
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
        *options_told(config, "questions"),
    ]
    return "\n".join(lines) + "\n"
