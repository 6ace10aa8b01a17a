"""Learn skip-gram vectors with negative sampling (Mikolov et al. 2013), with gensim, which is imported when needed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from biorel.errors import ConfigError
from biorel.text.tokenizer import spellings
from biorel.training.masking import Ids


def require_gensim() -> None:
    """Check that gensim is installed before any work is done.

    Raises:
        ConfigError: gensim is not installed.
    """
    if importlib.util.find_spec("gensim") is None:
        raise ConfigError("--method skipgram needs gensim, which is not installed", "pip install 'biorel[pretrain]'")


@dataclass(frozen=True)
class _EpochCallback:
    """The callback object of gensim, which needs all four methods."""

    on_epoch: Callable[[], None]

    def on_train_begin(self, _: Any) -> None: ...

    def on_train_end(self, _: Any) -> None: ...

    def on_epoch_begin(self, _: Any) -> None: ...

    def on_epoch_end(self, _: Any) -> None:
        self.on_epoch()


def spelled_texts(texts: Sequence[Ids], tokenizer: Tokenizer) -> list[list[str]]:
    """The tokens of each text by their spellings in files of vectors; empty texts are left out."""
    names = {index: spelling for spelling, index in spellings(tokenizer).items()}
    return [[names[index] for index in ids.tolist()] for ids in texts if len(ids)]


def learn_vectors(
    texts: Sequence[Sequence[str]],
    *,
    width: int,
    window: int,
    negatives: int,
    epochs: int,
    seed: int,
    threads: int,
    on_epoch: Callable[[], None] = lambda: None,
) -> dict[str, np.ndarray]:
    """Learn a vector for every token of the texts.

    Args:
        texts: the tokens of each document.
        width: D.
        window: tokens to either side that a token predicts.
        negatives: negative samples.
        threads: with one thread, the same texts and seed give the same vectors.
        on_epoch: called after each epoch.

    Returns:
        [D] for each token, the most frequent token first.
    """
    from gensim.models import Word2Vec

    model = Word2Vec(
        texts,
        sg=1,
        vector_size=width,
        window=window,
        negative=negatives,
        min_count=1,
        epochs=epochs,
        seed=seed,
        workers=threads,
        callbacks=(_EpochCallback(on_epoch),),
    )
    return {token: model.wv[token] for token in model.wv.index_to_key}
