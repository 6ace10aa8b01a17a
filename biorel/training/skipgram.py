"""Skip-gram vectors with negative sampling (Mikolov et al. 2013) by gensim, which is loaded when they are learnt."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biorel.errors import ConfigError


def require_gensim() -> None:
    """Tell early that gensim is missing.

    Raises:
        ConfigError: it is not installed.
    """
    if importlib.util.find_spec("gensim") is None:
        raise ConfigError("--method skipgram needs gensim, which is not installed", "pip install 'biorel[pretrain]'")


@dataclass(frozen=True)
class _Epochs:
    """What gensim calls as it goes; it asks for all four."""

    told: Callable[[], None]

    def on_train_begin(self, _: Any) -> None: ...

    def on_train_end(self, _: Any) -> None: ...

    def on_epoch_begin(self, _: Any) -> None: ...

    def on_epoch_end(self, _: Any) -> None:
        self.told()


def learn_vectors(
    texts: Sequence[Sequence[str]],
    *,
    width: int,
    window: int,
    negatives: int,
    epochs: int,
    seed: int,
    threads: int,
    told: Callable[[], None] = lambda: None,
) -> dict[str, np.ndarray]:
    """A vector for every token of the texts.

    Args:
        texts: tokens of each document.
        window: tokens to either side that a token is to tell.
        threads: with one, the same texts and seed give the same vectors.
        told: is called after each pass.

    Returns:
        token -> [D], the most frequent token first.
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
        callbacks=(_Epochs(told),),
    )
    return {token: model.wv[token] for token in model.wv.index_to_key}
