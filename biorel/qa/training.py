"""The training of a reader, from its questions to the weights that score best on dev."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from biorel.artifacts import write_json
from biorel.counts import Counts, Reason
from biorel.model.checkpoint import load_weights, save_weights
from biorel.progress import DevScore, Progress
from biorel.qa.batches import collate, collate_targets
from biorel.qa.decoding_tuning import tune_decoding
from biorel.qa.joint_encoder import JointEncoder
from biorel.qa.metrics import QuestionResult, measure
from biorel.qa.passages import Passage, PassageWindower
from biorel.qa.question_sets import QuestionSet
from biorel.qa.reader import Reader
from biorel.qa.reader_config import ReaderConfig
from biorel.qa.separate_encoder import SeparateEncoder
from biorel.text.tokenizer import spellings
from biorel.training.batches import TextStep, text_steps
from biorel.training.bert import load_bert
from biorel.training.checkpoint import TrainingState, restore_state
from biorel.training.loop import Schedule, train
from biorel.training.optim import WeightAverage, build_optimizer
from biorel.training.vectors import load_vectors


@dataclass(frozen=True, kw_only=True)
class ReaderTrainingArguments:
    """How to train a reader. All folds share these arguments.

    Attributes:
        encoder_name: `hf:` and the folder or name of the pre-trained BERT, if the reader's encoder is one.
        encoder_rate: peak learning rate of the last block of that BERT.
        layer_decay: factor of that rate from each block to the one below.
        vectors: file of pre-trained token vectors, for the other encoders.
        freeze_vectors: do not train the token vectors.
        token_budget, eval_tokens: padded tokens of a batch in training and in evaluation.
    """

    reader: ReaderConfig
    schedule: Schedule
    seed: int
    weight_decay: float
    ema: float
    token_budget: int
    eval_tokens: int
    vectors: Path | None
    freeze_vectors: bool
    encoder_name: str
    encoder_rate: float
    layer_decay: float


@dataclass(frozen=True)
class TrainingRun:
    """The surroundings of a training run, which do not affect the weights.

    Attributes:
        folder: for the checkpoints and the weights of finished readers.
        key: identifies the run that the checkpoints and weights belong to.
        progress: shows the training of each reader.
    """

    folder: Path
    key: str
    counts: Counts
    progress: Progress
    device: torch.device


@dataclass(frozen=True)
class TrainedReader:
    """A reader with its best weights, its results on its dev questions, and one history row for each epoch."""

    reader: Reader
    results: list[QuestionResult]
    history: list[dict[str, float]]


@dataclass(frozen=True)
class ReaderObjective:
    """The `training.loop.Objective` of a reader: batches of passages, and the loss of its head."""

    unit: ClassVar[str] = "questions"
    reader: Reader
    passages: Sequence[Passage]
    token_budget: int
    seed: int
    device: torch.device

    def plans(self, epoch: int) -> list[TextStep]:
        """The batches of an epoch; every passage occurs once."""
        lengths = [len(passage.token_ids) for passage in self.passages]
        return text_steps(lengths, token_budget=self.token_budget, seed=self.seed, epoch=epoch)

    def size(self, plan: TextStep) -> int:
        return len(plan.texts)

    def losses(self, plan: TextStep) -> tuple[Tensor, Mapping[str, float]]:
        """The loss of the reader's head. If a passage has several answers, one is drawn as the target."""
        chosen = [self.passages[place] for place in plan.texts]
        random = np.random.default_rng((self.seed, plan.epoch, plan.number, 2))
        no_answer_token = self.reader.head.has_no_answer_token
        targets = collate_targets(chosen, no_answer_token=no_answer_token, random=random).to(self.device)
        loss = self.reader.loss(collate(chosen).to(self.device), targets)
        return loss, {"loss": loss.item()}


def train_reader(
    arguments: ReaderTrainingArguments,
    tokenizer: Tokenizer,
    number: int,
    training: QuestionSet,
    dev: QuestionSet,
    run: TrainingRun,
) -> TrainedReader:
    """Train one reader, resume it from a checkpoint of the run, or load it if the run has finished it.

    Args:
        number: the number of the reader among the folds, from 1.

    Raises:
        BiorelError: vectors or a BERT cannot be read, a checkpoint is damaged, or the loss is not a number.
    """
    torch.manual_seed(arguments.seed + number - 1)
    reader = Reader(arguments.reader)
    rate_factor = _load_pretrained(reader, arguments, tokenizer, run.counts)
    reader.to(run.device)
    windower = PassageWindower(tokenizer, reader.config.window)
    dev_passages = dev.passages(windower)

    def evaluate() -> list[QuestionResult]:
        return dev.results([reader], dev_passages, arguments.eval_tokens, run.device)

    finished = run.folder / f"{number}.safetensors"
    history_file = finished.with_suffix(".json")
    if history_file.is_file():
        load_weights(reader, finished)
        history: list[dict[str, float]] = json.loads(history_file.read_text(encoding="utf-8"))
    else:
        history = _fit(reader, arguments, number, training.passages(windower), evaluate, rate_factor, run)
        save_weights(reader, finished)
        write_json(history_file, history)
    return TrainedReader(reader, evaluate(), history)


def _load_pretrained(
    reader: Reader, arguments: ReaderTrainingArguments, tokenizer: Tokenizer, counts: Counts
) -> Callable[[str], float]:
    """Load pre-trained weights or vectors; returns the factor of the learning rate for each parameter."""
    encoder = reader.encoder
    if isinstance(encoder, SeparateEncoder) and arguments.vectors is not None:
        number = load_vectors(encoder.embedding, spellings(tokenizer), arguments.vectors, counts)
        counts.add(Reason.PRETRAINED_VECTORS, count=number)
        encoder.embedding.weight.requires_grad_(not arguments.freeze_vectors)
    return load_bert(
        encoder.bert if isinstance(encoder, JointEncoder) else None,
        reader.config.vocabulary,
        encoder=arguments.encoder_name,
        encoder_rate=arguments.encoder_rate,
        learning_rate=arguments.schedule.learning_rate,
        layer_decay=arguments.layer_decay,
    )


def _fit(
    reader: Reader,
    arguments: ReaderTrainingArguments,
    number: int,
    passages: Sequence[Passage],
    evaluate: Callable[[], list[QuestionResult]],
    rate_factor: Callable[[str], float],
    run: TrainingRun,
) -> list[dict[str, float]]:
    """Train to the best weights on dev; returns the history.

    Args:
        evaluate: the results of the reader, with its current weights, on dev.
    """
    optimizer = build_optimizer(
        reader,
        rate=arguments.schedule.learning_rate,
        betas=(0.9, 0.999),
        epsilon=1e-8,
        weight_decay=arguments.weight_decay,
        share=rate_factor,
    )
    state = TrainingState(reader, optimizer, WeightAverage(reader, arguments.ema))
    checkpoint = run.folder / str(number)
    checkpoint.mkdir(exist_ok=True)
    key = f"{run.key}:{number}"
    restore_state(state, checkpoint, key)
    objective = ReaderObjective(reader, passages, arguments.token_budget, arguments.seed + number - 1, run.device)
    steps = train(state, objective, arguments.schedule, lambda: _dev_score(evaluate()), checkpoint, key)
    for _ in run.progress.training(steps, epochs=arguments.schedule.epochs, unit="questions"):
        pass  # the loop trains as it is consumed; only the final state is used here
    reader.load_state_dict(state.best, strict=False)
    return [{"fold": float(number), **row} for row in state.history]


def _dev_score(results: Sequence[QuestionResult]) -> DevScore:
    """The F1 that training maximises (`located`), and the other measures of the history."""
    decoding = tune_decoding(results)
    measures = measure(results, decoding)
    f1 = float(measures["located"]["f1"] or 0.0)
    history = {
        "f1": f1,
        "exact_match": float(measures["exact_match"] or 0.0),
        "macro_f1": float(measures["macro_f1"] or 0.0),
        "entity_f1": float(measures["entities"].get("overall", {}).get("f1") or 0.0),
    }
    return DevScore(f1, history, {"threshold": decoding.threshold})
