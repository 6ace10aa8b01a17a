"""The tokenizer that a command's options ask for: read, imported, or learned from texts."""

from __future__ import annotations

from collections.abc import Iterable

from tokenizers import Tokenizer

from biorel.config import BuildDataset, Pretrain
from biorel.text.tokenizer import import_subword_nmt, learn_bpe, load_tokenizer
from biorel.text.words import learn_words


def choose_tokenizer(config: BuildDataset | Pretrain, texts: Iterable[str]) -> Tokenizer:
    """The tokenizer of the options; a tokenizer that is read as it is leaves the texts unread.

    Raises:
        InputError: a file that is missing or not what it should be.
    """
    if config.tokenizer_file is not None:
        return load_tokenizer(config.tokenizer_file)
    if config.merges is not None:
        return import_subword_nmt(config.merges, texts)
    if config.tokenizer == "words":
        return learn_words(texts, config.min_count)
    return learn_bpe(texts, config.vocabulary)
