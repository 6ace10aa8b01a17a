"""Masked pre-training of BRAN's encoder: token ids of documents -> a folder that `train --pretrained` starts from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import pandas as pd
import torch
from tokenizers import Tokenizer

from biorel.artifacts import OutputFolder, fingerprint
from biorel.config.pretrain import Pretrain
from biorel.counts import Counts, Reason
from biorel.dataset.splits import hash_split
from biorel.errors import InputError
from biorel.model.device import pick_device
from biorel.model.masked import MaskedConfig, MaskedLanguageModel
from biorel.progress import Progress
from biorel.text.tokenizer import UNK_ID, spellings
from biorel.training.checkpoint import FOLDER, TrainingState, discard_state, resume_state
from biorel.training.loop import speed_metrics, train
from biorel.training.masking import Ids, pieces_of
from biorel.training.model_card import options_told
from biorel.training.optim import WeightAverage, build_optimizer
from biorel.training.pretrained import save_pretrained
from biorel.training.pretraining import MaskedObjective, MaskedRecipe, dev_batches, dev_perplexity
from biorel.training.vectors import load_vectors

# of a document: its id and its token ids
Text = tuple[str, Ids]


def pretrain_masked(
    config: Pretrain,
    output: OutputFolder,
    tokenizer: Tokenizer,
    texts: Sequence[Text],
    progress: Progress,
) -> None:
    """Train, and write the files of the folder into `output`.

    Raises:
        BiorelError: no text to train on or to hold out, a device that cannot be used, a checkpoint of another run.
    """
    device = pick_device(config.device)
    if config.threads:
        torch.set_num_threads(config.threads)
    training, dev = _divided(texts, config, output.counts)
    vocabulary = tokenizer.get_vocab_size()
    torch.manual_seed(config.seed)
    model = MaskedLanguageModel(_sizes(config, vocabulary))
    if config.vectors is not None:
        found = load_vectors(model.embedding.tokens, spellings(tokenizer), config.vectors, output.counts)
        output.counts.add(Reason.PRETRAINED_VECTORS, count=found)
    model.to(device)
    optimizer = build_optimizer(
        model,
        rate=config.learning_rate,
        betas=(config.beta1, config.beta2),
        epsilon=config.epsilon,
        weight_decay=config.weight_decay,
    )
    state = TrainingState(model, optimizer, WeightAverage(model, config.ema))
    key = fingerprint("pretrain", config.options())
    checkpoint = output.path / FOLDER
    output.notes["resumed"] = resume_state(state, checkpoint, key, force=config.force)

    names = {field.name for field in fields(MaskedRecipe)} & set(Pretrain.model_fields)
    recipe = MaskedRecipe(**{name: getattr(config, name) for name in names})
    progress.line(f"{len(training)} texts to train on, {len(dev)} held out")
    work = MaskedObjective(model, training, recipe, vocabulary, device)
    held_out = dev_batches(dev, recipe, vocabulary)
    steps = train(state, work, recipe, lambda: dev_perplexity(model, held_out, device), checkpoint, key)
    for _ in progress.training(steps, epochs=config.epochs, unit="tokens"):
        pass  # the loop trains as it is consumed; only the final state is used here

    model.load_state_dict(state.best, strict=False)
    pd.DataFrame(state.history).to_parquet(output.path / "history.parquet", index=False)
    metrics = _metrics(config, state, training, dev, device)
    save_pretrained(output.path, model, tokenizer, metrics, _card(config, metrics))
    discard_state(checkpoint)
    output.notes["device"] = str(device)


def _divided(texts: Sequence[Text], config: Pretrain, counts: Counts) -> tuple[list[Ids], list[Ids]]:
    """The pieces to train on and those held out, by document id: an order of inputs draws no other documents."""
    training: list[Ids] = []
    dev: list[Ids] = []
    for doc_id, ids in texts:
        pieces = pieces_of(ids, config.positions)
        held_out = hash_split(doc_id, config.held_out, 0) == "dev"
        (dev if held_out else training).extend(pieces)
        used = Reason.DOCUMENTS_HELD_OUT if held_out else Reason.DOCUMENTS_USED
        counts.add(used if pieces else Reason.DOCUMENT_WITHOUT_KNOWN_TOKEN)
    if not training or not dev:
        raise InputError(
            f"{len(training)} texts to train on, {len(dev)} held out",
            "give more documents or another --held-out",
        )
    return training, dev


def _sizes(config: Pretrain, vocabulary: int) -> MaskedConfig:
    shared = {field.name for field in fields(MaskedConfig)} & set(Pretrain.model_fields) - {"vocabulary"}
    return MaskedConfig(vocabulary=vocabulary, unk_id=UNK_ID, **{name: getattr(config, name) for name in shared})


def _metrics(
    config: Pretrain, state: TrainingState, training: Sequence[Ids], dev: Sequence[Ids], device: torch.device
) -> dict[str, Any]:
    return {
        "dev_perplexity": 1 / state.best_score,
        "best_epoch": state.best_epoch,
        "epochs": state.epoch,
        "texts": {"train": len(training), "dev": len(dev)},
        "tokens": {"train": sum(map(len, training)), "dev": sum(map(len, dev))},
        "seed": config.seed,
        "device": str(device),
        **speed_metrics(state.history, "tokens"),
    }


def _card(config: Pretrain, metrics: dict[str, Any]) -> str:
    """The README of the folder: what it was trained on, and how."""
    lines = [
        "# An encoder, pre-trained by biorel to name hidden tokens",
        "",
        f"Trained on {metrics['tokens']['train']} tokens of {', '.join(f'`{path}`' for path in config.documents)}; the "
        f"best of {metrics['epochs']} epochs chosen on {metrics['tokens']['dev']} tokens held out.",
        "",
        f"Dev perplexity {metrics['dev_perplexity']:.1f} (epoch {metrics['best_epoch']}).",
        "",
        "`biorel train --pretrained` starts from it, on a dataset built with `--tokenizer-file` of this folder.",
        "",
        *options_told(config, "documents"),
    ]
    return "\n".join(lines) + "\n"
