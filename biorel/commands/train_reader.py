"""train-reader: questions -> a model folder with one reader, or with one reader for each fold."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import Any

import torch

from biorel import artifacts
from biorel.artifacts import Artifact, OutputFolder
from biorel.config.train_reader import TrainReader
from biorel.model.device import pick_device
from biorel.progress import SILENT, Progress
from biorel.qa.decoding import Decoding
from biorel.qa.decoding_tuning import tune_decoding
from biorel.qa.folder import ReaderFolder, save_reader
from biorel.qa.joint_encoder import longest_passage
from biorel.qa.metrics import QuestionResult, measure
from biorel.qa.question_sets import read_training_sets
from biorel.qa.reader_config import ReaderConfig
from biorel.qa.training import ReaderTrainingArguments, TrainingRun, train_reader
from biorel.text.tokenizer import load_tokenizer
from biorel.training.bert import PretrainedBert, open_bert
from biorel.training.checkpoint import FOLDER, foreign_checkpoint
from biorel.training.loop import Schedule, speed_metrics
from biorel.training.model_folder import option_lines

_RUN_KEY = f"{FOLDER}/begun"


def run(config: TrainReader, progress: Progress = SILENT) -> Artifact:
    """Train and write the model folder `config.out`.

    Raises:
        BiorelError: an input cannot be read, a split has no answerable question, or the checkpoint belongs to another
            run.
    """
    device = pick_device(config.device)
    if config.threads:
        torch.set_num_threads(config.threads)
    bert = open_bert(config.encoder)
    tokenizer = load_tokenizer(config.questions) if bert is None else bert.tokenizer
    sets = read_training_sets(config.questions, folds=config.folds, resplit_dev=config.resplit_dev, seed=config.seed)
    arguments = _training_arguments(config, _reader_config(config, tokenizer.get_vocab_size(), bert))
    key = artifacts.fingerprint("train-reader", config.options())
    with artifacts.folder("train-reader", config.options(), config.out, force=config.force, resume=_RUN_KEY) as output:
        output.notes["resumed"] = _claim_checkpoint(output, key, config.force)
        training_run = TrainingRun(output.path / FOLDER, key, output.counts, progress, device)
        readers, results, history = [], [], []
        for number, (training, dev) in enumerate(sets, start=1):
            trained = train_reader(arguments, tokenizer, number, training, dev, training_run)
            readers.append(trained.reader)
            results += trained.results
            history += trained.history
        decoding = tune_decoding(results)
        metrics = _metrics(config, results, decoding, history, device)
        saved = ReaderFolder(tuple(readers), tokenizer, decoding)
        save_reader(output.path, saved, metrics, _card(config, metrics, decoding))
        artifacts.write_json(output.path / "history.json", history)
        shutil.rmtree(output.path / FOLDER)
        output.notes["device"] = str(device)
    return Artifact(label="reader", path=config.out)


def _reader_config(config: TrainReader, vocabulary: int, bert: PretrainedBert | None) -> ReaderConfig:
    reader = ReaderConfig(
        vocabulary=vocabulary,
        head=config.head,
        encoder=config.encoder,
        width=config.width,
        embedding=config.embedding,
        positions=config.positions,
        kernel=config.kernel,
        dilations=config.dilations,
        question_dilations=config.question_dilations,
        blocks=config.blocks,
        heads=config.heads,
        window=config.window,
        sample=config.sample,
        focus=config.focus,
        gate_noise=config.gate_noise,
        word_dropout=config.word_dropout,
        dropout=config.dropout,
    )
    if bert is None:
        return reader
    return replace(
        reader,
        encoder="bert",
        bert=bert.config,
        cls_id=bert.cls_id,
        sep_id=bert.sep_id,
        unk_id=bert.unk_id,
        window=min(config.window, longest_passage(bert.config)),
    )


def _training_arguments(config: TrainReader, reader: ReaderConfig) -> ReaderTrainingArguments:
    return ReaderTrainingArguments(
        reader=reader,
        schedule=Schedule(
            seed=config.seed,
            epochs=config.epochs,
            learning_rate=config.learning_rate,
            warmup=config.warmup,
            final_rate=config.final_rate,
            clip=config.clip,
            patience=config.patience,
        ),
        seed=config.seed,
        weight_decay=config.weight_decay,
        ema=config.ema,
        token_budget=config.token_budget,
        eval_tokens=config.eval_tokens,
        vectors=config.vectors,
        freeze_vectors=config.freeze_vectors,
        encoder_name=config.encoder,
        encoder_rate=config.encoder_rate,
        layer_decay=config.layer_decay,
    )


def _claim_checkpoint(output: OutputFolder, key: str, force: bool) -> bool:
    """Whether the folder contains a checkpoint of this run. With `force`, a checkpoint of another run is removed.

    Raises:
        ModelError: the checkpoint belongs to another run, and `force` is false.
    """
    key_file = output.path / _RUN_KEY
    if output.resumed:
        if key_file.read_text(encoding="utf-8") == key:
            return True
        if not force:
            raise foreign_checkpoint(output.path, output.path)
        shutil.rmtree(key_file.parent)
    key_file.parent.mkdir(exist_ok=True)
    key_file.write_text(key, encoding="utf-8")
    return False


def _metrics(
    config: TrainReader,
    results: list[QuestionResult],
    decoding: Decoding,
    history: list[dict[str, float]],
    device: torch.device,
) -> dict[str, Any]:
    measures = measure(results, decoding)
    return {
        "dev_f1": measures["located"]["f1"],
        "dev": measures,
        "members": config.folds,
        "epochs": len(history),
        "seed": config.seed,
        "device": str(device),
        **speed_metrics(history, "questions"),
    }


def _card(config: TrainReader, metrics: dict[str, Any], decoding: Decoding) -> str:
    """The README of a reader's folder, with its training data, dev scores, decoding and options."""
    lines = [
        "# A question-answering reader trained by biorel",
        "",
        f"Head `{config.head}` over encoder `{config.encoder}`, trained on `{config.questions}`. The number of epochs "
        f"and the decoding were chosen on {metrics['dev']['questions']} dev questions, "
        f"{metrics['dev']['answerable']} of them answerable.",
        "",
        f"Dev: exact match {100 * (metrics['dev']['exact_match'] or 0):.1f}, "
        f"macro F1 {100 * (metrics['dev']['macro_f1'] or 0):.1f}.",
        "",
        f"Decoding: {decoding.rule}, at most {decoding.longest} tokens, answers from a score of "
        f"{decoding.threshold:.3f}, entities from {decoding.entity_threshold:.3f}.",
        "",
        *option_lines(config.changed_options("questions", "out", "force", "threads")),
    ]
    return "\n".join(lines) + "\n"
