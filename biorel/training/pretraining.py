"""The loop of masked pre-training: a generator of reports, as the loop of relations is."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from biorel.training.batches import filled_batches, shuffled_batches
from biorel.training.checkpoint import TrainingState, save_state
from biorel.training.descent import descend
from biorel.training.masking import Ids, MaskedBatch, collate_masked, mask_text
from biorel.training.optim import learning_rate

# what is drawn from (seed, epoch, step, _TRAIN) and (seed, number, _DEV) is drawn for nothing else
_TRAIN, _DEV = 2, 3


@dataclass(frozen=True, kw_only=True)
class MaskedRecipe:
    """How an encoder is pre-trained; the fields are explained at `config.Pretrain`."""

    seed: int
    epochs: int
    mask_share: float
    token_budget: int
    eval_tokens: int
    learning_rate: float
    warmup: int
    final_rate: float
    clip: float
    checkpoint_steps: int = 200


@dataclass(frozen=True)
class MaskedReport:
    """After a step, or (with `dev_perplexity`) after an epoch: means over the epoch so far, tokens per second."""

    epoch: int
    epoch_step: int
    steps: int
    loss: float
    tokens_per_second: float
    dev_perplexity: float | None = None
    best: bool = False


def pretrain(
    state: TrainingState,
    texts: Sequence[Ids],
    dev: Sequence[Ids],
    recipe: MaskedRecipe,
    *,
    vocabulary: int,
    folder: Path,
    key: str,
) -> Iterator[MaskedReport]:
    """Train from where `state` stands to the last epoch.

    Args:
        state: its network is a `MaskedModel`; at the end it holds the averaged weights that were best on `dev`.
        texts, dev: token ids of each text, with at least one that is known.
        vocabulary: V.
        folder, key: where the checkpoint goes, and the run that it belongs to.

    Raises:
        ModelError: the loss is no longer a number.
    """
    device = next(state.model.parameters()).device
    lengths = [len(text) for text in texts]
    held_out = _dev_batches(dev, recipe, vocabulary)
    planned = len(_plans(lengths, recipe, 0)) * recipe.epochs
    while state.epoch < recipe.epochs:
        plans = _plans(lengths, recipe, state.epoch)
        for plan in plans[state.epoch_step :]:
            began = time.perf_counter()
            state.model.train()
            random = np.random.default_rng((recipe.seed, state.epoch, state.epoch_step, _TRAIN))
            batch = collate_masked(
                [
                    mask_text(texts[index], share=recipe.mask_share, vocabulary=vocabulary, random=random)
                    for index in plan
                ]
            ).to(device)
            rate = learning_rate(
                state.step, peak=recipe.learning_rate, warmup=recipe.warmup, total=planned, floor=recipe.final_rate
            )
            loss = F.cross_entropy(state.model(batch.token_ids, batch.mask, batch.places), batch.targets)
            descend(state, loss, rate=rate, clip=recipe.clip)
            _book(state, loss.item(), sum(lengths[index] for index in plan), time.perf_counter() - began)
            state.epoch_step += 1
            state.step += 1
            if state.step % recipe.checkpoint_steps == 0:
                save_state(state, folder, key)
            yield _report(state, len(plans))
        with state.average.applied_to(state.model):
            perplexity = dev_perplexity(state, held_out)
        best = 1 / perplexity > state.best_score
        if best:
            state.best = {name: value.clone() for name, value in state.average.shadow.items()}
            state.best_score, state.best_epoch = 1 / perplexity, state.epoch + 1
        report = _report(state, len(plans), perplexity, best)
        state.history.append(
            {
                "epoch": state.epoch + 1,
                "loss": report.loss,
                "dev_perplexity": perplexity,
                "tokens_per_second": report.tokens_per_second,
                "seconds": state.sums["seconds"],
            }
        )
        state.epoch, state.epoch_step, state.sums = state.epoch + 1, 0, {}
        save_state(state, folder, key)
        yield report


@torch.no_grad()
def dev_perplexity(state: TrainingState, batches: Sequence[MaskedBatch]) -> float:
    """exp of the mean negative log probability of the hidden tokens, over all batches."""
    device = next(state.model.parameters()).device
    state.model.eval()
    total, count = 0.0, 0
    for batch in (batch.to(device) for batch in batches):
        scores = state.model(batch.token_ids, batch.mask, batch.places)
        total += F.cross_entropy(scores, batch.targets, reduction="sum").item()
        count += len(batch.targets)
    return math.exp(min(total / count, 700.0))  # the largest double is about exp(709)


def _plans(lengths: Sequence[int], recipe: MaskedRecipe, epoch: int) -> list[tuple[int, ...]]:
    return list(shuffled_batches(lengths, token_budget=recipe.token_budget, seed=recipe.seed, epoch=epoch))


def _dev_batches(dev: Sequence[Ids], recipe: MaskedRecipe, vocabulary: int) -> list[MaskedBatch]:
    """The same tokens are hidden after every epoch, whatever the batches."""
    masked = [
        mask_text(
            text,
            share=recipe.mask_share,
            vocabulary=vocabulary,
            random=np.random.default_rng((recipe.seed, number, _DEV)),
        )
        for number, text in enumerate(dev)
    ]
    lengths = [len(text) for text in dev]
    by_length = sorted(range(len(dev)), key=lengths.__getitem__)
    return [
        collate_masked([masked[index] for index in batch])
        for batch in filled_batches(by_length, lengths, recipe.eval_tokens)
    ]


def _book(state: TrainingState, loss: float, tokens: int, seconds: float) -> None:
    for name, value in zip(("loss", "steps", "tokens", "seconds"), (loss, 1, tokens, seconds), strict=True):
        state.sums[name] = state.sums.get(name, 0.0) + value


def _report(state: TrainingState, steps: int, perplexity: float | None = None, best: bool = False) -> MaskedReport:
    return MaskedReport(
        epoch=state.epoch + 1,
        epoch_step=state.epoch_step,
        steps=steps,
        loss=state.sums.get("loss", 0.0) / max(1.0, state.sums.get("steps", 0.0)),
        tokens_per_second=state.sums.get("tokens", 0.0) / max(1e-9, state.sums.get("seconds", 0.0)),
        dev_perplexity=perplexity,
        best=best,
    )
