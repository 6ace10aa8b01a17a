"""Pre-trained sub-word vectors into the token embedding.

The text format of word2vec: `count width` first, then a token and its numbers a line. Tokens are in
subword-nmt's spelling, where `token@@` goes on within the word and `token` ends it.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from biorel.errors import InputError
from biorel.ledger import Ledger
from biorel.sources.files import read_lines
from biorel.text.tokenizer import END_OF_WORD


def load_vectors(embedding: nn.Embedding, vocabulary: dict[str, int], path: Path, ledger: Ledger) -> int:
    """Set the rows of the tokens that the file knows; returns how many.

    A vector narrower than the embedding fills its first columns.

    Raises:
        InputError: a line that is no vector, vectors wider than the embedding, or no token in common.
    """
    found = 0
    with torch.no_grad():
        for number, line in read_lines(path, ledger):
            token, *numbers = line.rstrip(" ").split(" ")
            if number == 1 and len(numbers) == 1:
                continue
            if len(numbers) > embedding.embedding_dim:
                raise InputError(f"{path}:{number}: {len(numbers)} numbers for --width {embedding.embedding_dim}")
            index = vocabulary.get(token.removesuffix("@@") if token.endswith("@@") else token + END_OF_WORD)
            if index is None:
                continue
            try:
                embedding.weight[index, : len(numbers)] = torch.tensor([float(value) for value in numbers])
            except ValueError as error:
                raise InputError(f"{path}:{number}: not a vector ({error})") from error
            found += 1
    if not found:
        raise InputError(
            f"{path}: knows no token of this vocabulary", "build the dataset with the --merges of these vectors"
        )
    return found
