"""The training of one network of a reader: from its questions to its best weights on dev."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import torch
from tokenizers import Tokenizer

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config import TrainReader
from biorel.counts import Reason
from biorel.model.checkpoint import load_weights, save_weights
from biorel.qa.decoding_choices import tune
from biorel.qa.joint_encoder import JointEncoder, longest_passage
from biorel.qa.metrics import Judged, measure
from biorel.qa.network import Reader
from biorel.qa.objective import ReaderObjective
from biorel.qa.passages import Passage, PassageWindower
from biorel.qa.question_sets import QuestionSet
from biorel.qa.separate_encoder import SeparateEncoder
from biorel.qa.sizes import ReaderConfig
from biorel.text.tokenizer import spellings
from biorel.training.bert_start import Pretrained, load_bert
from biorel.training.checkpoint import FOLDER, TrainingState, restore_state
from biorel.training.loop import DevScore, Report, Schedule, train
from biorel.training.optim import WeightAverage, build_optimizer
from biorel.training.vectors import load_vectors

Reports = Callable[[Iterable[Report]], Iterator[Report]]


@dataclass(frozen=True)
class Job:
    """What the networks of a reader have in common.

    Attributes:
        bert: the pre-trained encoder, where there is one; the tokenizer is its own then.
        artifact: the folder that is being written; checkpoints lie in its folder `FOLDER`.
        key: the run that they belong to.
        reports: is given the stream of reports of each network and passes them on.
    """

    config: TrainReader
    tokenizer: Tokenizer
    bert: Pretrained | None
    artifact: Artifact
    key: str
    device: torch.device
    reports: Reports


@dataclass(frozen=True)
class Member:
    """A network with its best weights, what it finds for its dev questions, and one row for each epoch."""

    model: Reader
    judged: list[Judged]
    history: list[dict[str, float]]


def train_member(job: Job, number: int, training: QuestionSet, dev: QuestionSet) -> Member:
    """Train a network, or read it where it is done; from a checkpoint of the run training goes on.

    Args:
        number: of the network, from 1.

    Raises:
        BiorelError: vectors or a BERT that cannot be read, a damaged checkpoint, a loss that is no number.
    """
    config, device = job.config, job.device
    torch.manual_seed(config.seed + number - 1)
    model = Reader(_sizes(job))
    share = _start(model, job)
    model.to(device)
    cutter = PassageWindower(job.tokenizer, model.sizes.window)
    asked = dev.passages(cutter)
    done = job.artifact.path / FOLDER / f"{number}.safetensors"
    history = done.with_suffix(".json")
    if history.is_file():
        load_weights(model, done)
        rows: list[dict[str, float]] = json.loads(history.read_text(encoding="utf-8"))
    else:

        def find() -> list[Judged]:
            return dev.judged([model], asked, config.eval_tokens, device)

        rows = _fit(job, number, model, share, training.passages(cutter), find)
        save_weights(model, done)
        artifacts.write_json(history, rows)
    return Member(model, dev.judged([model], asked, config.eval_tokens, device), rows)


def _start(model: Reader, job: Job) -> Callable[[str], float]:
    """Read pre-trained weights or vectors; returns each parameter's share of the learning rate."""
    encoder, config, counts = model.encoder, job.config, job.artifact.counts
    if isinstance(encoder, SeparateEncoder) and config.vectors is not None:
        found = load_vectors(encoder.embedding, spellings(job.tokenizer), config.vectors, counts)
        counts.add(Reason.TOKENS_WITH_PRE_TRAINED_VECTOR, count=found)
        encoder.embedding.weight.requires_grad_(not config.freeze_vectors)
    return load_bert(encoder.bert if isinstance(encoder, JointEncoder) else None, model.sizes.vocabulary, config)


def _fit(
    job: Job,
    number: int,
    model: Reader,
    share: Callable[[str], float],
    passages: Sequence[Passage],
    find: Callable[[], list[Judged]],
) -> list[dict[str, float]]:
    """Train to the best weights on dev; returns the history.

    Args:
        find: what the network as it stands finds for the dev questions.
    """
    config = job.config

    def score_dev() -> DevScore:
        judged = find()
        decoding = tune(judged)
        measures = measure(judged, decoding)
        told = {"f1": float(measures["located"]["f1"] or 0.0)}
        told |= {name: float(measures[name] or 0.0) for name in ("exact_match", "macro_f1")}
        told["entity_f1"] = float(measures["entities"].get("overall", {}).get("f1") or 0.0)
        return DevScore(told["f1"], told, {"threshold": decoding.threshold})

    optimizer = build_optimizer(
        model,
        rate=config.learning_rate,
        betas=(0.9, 0.999),
        epsilon=1e-8,
        weight_decay=config.weight_decay,
        share=share,
    )
    state = TrainingState(model, optimizer, WeightAverage(model, config.ema))
    checkpoint: Path = job.artifact.path / FOLDER / str(number)
    checkpoint.mkdir(exist_ok=True)
    key = f"{job.key}:{number}"
    restore_state(state, checkpoint, key)
    work = ReaderObjective(model, passages, config.token_budget, config.seed + number - 1, job.device)
    schedule = Schedule(
        **{field.name: getattr(config, field.name) for field in fields(Schedule) if hasattr(config, field.name)}
    )
    for _ in job.reports(train(state, work, schedule, score_dev, checkpoint, key)):
        pass
    model.load_state_dict(state.best, strict=False)
    return [{"fold": float(number), **row} for row in state.history]


def _sizes(job: Job) -> ReaderConfig:
    shared = {field.name for field in fields(ReaderConfig)} & set(TrainReader.model_fields)
    given = {name: getattr(job.config, name) for name in shared}
    sizes = ReaderConfig(vocabulary=job.tokenizer.get_vocab_size(), **given)
    if job.bert is None:
        return sizes
    return replace(sizes, **job.bert.shared, window=min(sizes.window, longest_passage(job.bert.config)))
