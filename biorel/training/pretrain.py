"""Pre-train BRAN's encoder to predict hidden tokens, and start a network from the folder of such an encoder.

model.safetensors  weights                       tokenizer.json
config.json        the network's options         metrics.json, history.parquet, README.md
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor

from biorel.artifacts import read_json_object, write_json
from biorel.counts import Counts, Reason
from biorel.dataset.splits import hash_split
from biorel.errors import InputError, ModelError
from biorel.model.bran import Bran
from biorel.model.checkpoint import config_to_dict, read_weights, save_weights, with_present_names
from biorel.model.masked import SHARED, MaskedLanguageModel
from biorel.progress import DevScore, Progress
from biorel.text.tokenizer import TOKENIZER, load_tokenizer, save_tokenizer
from biorel.training.batches import TextStep, ordered_batches, text_steps
from biorel.training.checkpoint import FOLDER, TrainingState, discard_state, resume_state
from biorel.training.loop import Schedule, speed_metrics, train
from biorel.training.masking import Ids, MaskedBatch, collate_masked, mask_text, pieces_of
from biorel.training.optim import WeightAverage, build_optimizer

KIND = "masked"
_WEIGHTS, _CONFIG = "model.safetensors", "config.json"
# options that a network must share with the encoder from which it starts; dropout may differ
_SHARED_OPTIONS = ("width", "blocks", "heads", "kernels", "expansion", "positions", "encoder", "unk_id")
# the random generators of training steps are seeded with (seed, epoch, step, _TRAIN), those of dev with
# (seed, number, _DEV), so that they share no draw
_TRAIN, _DEV = 2, 3


@dataclass(frozen=True, kw_only=True)
class PretrainingArguments(Schedule):
    """How to pre-train an encoder.

    Attributes:
        beta1, beta2, epsilon: of Adam.
        weight_decay: decoupled; 0 for none.
        ema: decay of the running average of the weights.
        mask_share: share of the tokens to hide.
        token_budget, eval_tokens: padded tokens of a batch in training and in evaluation.
    """

    beta1: float
    beta2: float
    epsilon: float
    weight_decay: float
    ema: float
    mask_share: float
    token_budget: int
    eval_tokens: int


@dataclass(frozen=True)
class MaskedObjective:
    """The `training.loop.Objective` of masked pre-training.

    Attributes:
        texts: token ids; every text has a token that can be predicted.
        vocabulary: V.
    """

    unit: ClassVar[str] = "tokens"
    model: MaskedLanguageModel
    texts: Sequence[Ids]
    arguments: PretrainingArguments
    vocabulary: int
    device: torch.device

    def plans(self, epoch: int) -> list[TextStep]:
        """The steps of an epoch; every text occurs once."""
        arguments = self.arguments
        lengths = [len(text) for text in self.texts]
        return text_steps(lengths, token_budget=arguments.token_budget, seed=arguments.seed, epoch=epoch)

    def size(self, plan: TextStep) -> int:
        return sum(len(self.texts[index]) for index in plan.texts)

    def losses(self, plan: TextStep) -> tuple[Tensor, Mapping[str, float]]:
        """The cross-entropy of the hidden tokens."""
        random = np.random.default_rng((self.arguments.seed, plan.epoch, plan.number, _TRAIN))
        share = self.arguments.mask_share
        masked = [
            mask_text(self.texts[index], share=share, vocabulary=self.vocabulary, random=random) for index in plan.texts
        ]
        batch = collate_masked(masked).to(self.device)
        loss = F.cross_entropy(self.model(batch.token_ids, batch.mask, batch.places), batch.targets)
        return loss, {"loss": loss.item()}


@dataclass(frozen=True)
class PretrainedEncoder:
    """A pre-trained network, the content of metrics.json, one history row for each epoch, and whether it resumed."""

    model: MaskedLanguageModel
    metrics: dict[str, Any]
    history: list[dict[str, float]]
    resumed: bool


def split_texts(
    texts: Sequence[tuple[str, Ids]], *, positions: int, held_out: float, counts: Counts
) -> tuple[list[Ids], list[Ids]]:
    """Cut the texts into pieces that fit the positions, and hold some documents out for dev.

    The document id decides which documents are held out, so that their order does not matter.

    Args:
        texts: document id and token ids.
        held_out: share of the documents.

    Raises:
        InputError: there are no pieces to train on, or none for dev.
    """
    training: list[Ids] = []
    dev: list[Ids] = []
    for doc_id, ids in texts:
        pieces = pieces_of(ids, positions)
        is_dev = hash_split(doc_id, held_out, 0) == "dev"
        (dev if is_dev else training).extend(pieces)
        kept = Reason.DOCUMENTS_HELD_OUT if is_dev else Reason.DOCUMENTS_USED
        counts.add(kept if pieces else Reason.DOCUMENT_WITHOUT_KNOWN_TOKEN)
    if not training or not dev:
        raise InputError(
            f"too few texts: {len(training)} to train on, {len(dev)} held out",
            "give more documents or another --held-out",
        )
    return training, dev


def pretrain_encoder(
    model: MaskedLanguageModel,
    training: Sequence[Ids],
    dev: Sequence[Ids],
    arguments: PretrainingArguments,
    *,
    folder: Path,
    key: str,
    force: bool,
    progress: Progress,
    device: torch.device,
) -> PretrainedEncoder:
    """Train a network to its best weights on dev.

    The random generator must have been seeded before the network was built.

    Args:
        model: changed in place.
        folder: the output folder, for the checkpoint.
        key: identifies the run that the checkpoint belongs to.
        force: discard a checkpoint of another run.
        progress: shows the training.

    Raises:
        ModelError: the checkpoint belongs to another run, or the loss is infinite or not a number.
    """
    model.to(device)
    optimizer = build_optimizer(
        model,
        rate=arguments.learning_rate,
        betas=(arguments.beta1, arguments.beta2),
        epsilon=arguments.epsilon,
        weight_decay=arguments.weight_decay,
    )
    state = TrainingState(model, optimizer, WeightAverage(model, arguments.ema))
    checkpoint = folder / FOLDER
    resumed = resume_state(state, checkpoint, key, force=force)
    vocabulary = model.config.vocabulary
    progress.line(f"{len(training)} texts to train on, {len(dev)} held out")
    objective = MaskedObjective(model, training, arguments, vocabulary, device)
    batches = dev_batches(dev, arguments, vocabulary)
    steps = train(state, objective, arguments, lambda: dev_perplexity(model, batches, device), checkpoint, key)
    for _ in progress.training(steps, epochs=arguments.epochs, unit="tokens"):
        pass  # the loop trains as it is consumed; only the final state is used here
    model.load_state_dict(state.best, strict=False)
    metrics = {
        "dev_perplexity": 1 / state.best_score,
        "best_epoch": state.best_epoch,
        "epochs": state.epoch,
        "texts": {"train": len(training), "dev": len(dev)},
        "tokens": {"train": sum(map(len, training)), "dev": sum(map(len, dev))},
        "seed": arguments.seed,
        "device": str(device),
        **speed_metrics(state.history, MaskedObjective.unit),
    }
    discard_state(checkpoint)
    return PretrainedEncoder(model, metrics, state.history, resumed)


@torch.no_grad()
def dev_perplexity(model: MaskedLanguageModel, batches: Sequence[MaskedBatch], device: torch.device) -> DevScore:
    """exp of the mean negative log probability of the hidden tokens of all batches; lower is better."""
    model.eval()
    total, count = 0.0, 0
    for batch in (batch.to(device) for batch in batches):
        scores = model(batch.token_ids, batch.mask, batch.places)
        total += F.cross_entropy(scores, batch.targets, reduction="sum").item()
        count += len(batch.targets)
    perplexity = math.exp(min(total / count, 700.0))  # the largest double is about exp(709)
    return DevScore(1 / perplexity, {"perplexity": perplexity})


def dev_batches(dev: Sequence[Ids], arguments: PretrainingArguments, vocabulary: int) -> list[MaskedBatch]:
    """The batches of dev texts; the same tokens are hidden in every epoch, and for every batch size."""
    masked = [
        mask_text(
            text,
            share=arguments.mask_share,
            vocabulary=vocabulary,
            random=np.random.default_rng((arguments.seed, number, _DEV)),
        )
        for number, text in enumerate(dev)
    ]
    batches = ordered_batches([len(text) for text in dev], token_budget=arguments.eval_tokens)
    return [collate_masked([masked[index] for index in batch]) for batch in batches]


def save_encoder(
    folder: Path, model: MaskedLanguageModel, tokenizer: Tokenizer, metrics: Mapping[str, Any], card: str
) -> None:
    """Write the files of a pre-trained encoder into an existing folder.

    Args:
        metrics: the content of metrics.json.
        card: the content of README.md.
    """
    save_weights(model, folder / _WEIGHTS)
    write_json(folder / _CONFIG, {"model": KIND, "config": config_to_dict(model.config)})
    save_tokenizer(tokenizer, folder / TOKENIZER)
    write_json(folder / "metrics.json", metrics)
    (folder / "README.md").write_text(card, encoding="utf-8")


def start_from(model: Bran, folder: Path, tokenizer: Tokenizer) -> int:
    """Copy the embedding and the encoder of a pre-trained folder into a network; returns the number of parameters.

    Args:
        tokenizer: the one that made the network's examples.

    Raises:
        ModelError: the folder holds no pre-trained encoder, or one with other sizes or another tokenizer.
    """
    content = with_present_names(read_json_object(folder / _CONFIG))
    options = content.get("config")
    if content.get("model") != KIND or not isinstance(options, dict):
        raise ModelError(
            f"{folder}: the folder holds no pre-trained encoder", "make an encoder with biorel pretrain --method masked"
        )
    expected_options = config_to_dict(model.config)
    differing = [name for name in _SHARED_OPTIONS if options.get(name) != expected_options[name]]
    if differing:
        raise ModelError(
            f"{folder}: the pre-trained encoder has other sizes than this network: "
            + ", ".join(f"{name} {options.get(name)} (here {expected_options[name]})" for name in differing),
            "train with the sizes of the pre-trained encoder",
        )
    if load_tokenizer(folder).to_str() != tokenizer.to_str():
        raise ModelError(
            f"{folder}: the encoder was pre-trained with another tokenizer than that of the dataset",
            f"build the dataset with --tokenizer-file {folder}",
        )
    weights = {name: value for name, value in read_weights(folder / _WEIGHTS).items() if name.startswith(SHARED)}
    expected = {name: value.shape for name, value in model.state_dict().items() if name.startswith(SHARED)}
    if expected != {name: value.shape for name, value in weights.items()}:
        raise ModelError(f"{folder / _WEIGHTS}: does not match config.json", "both must come from one pre-training")
    model.load_state_dict(weights, strict=False)
    return sum(value.numel() for value in weights.values())
