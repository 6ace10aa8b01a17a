"""Pre-trained vectors of sub-words or words, from and to files, and into the token embedding.

The text format of word2vec: `count width` first, then a token and its numbers a line. How tokens are spelled there
tells `biorel.text.tokenizer.spellings`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import nn

from biorel.counts import Counts
from biorel.errors import InputError
from biorel.formats.files import read_lines


def load_vectors(embedding: nn.Embedding, spelled: Mapping[str, int], path: Path, counts: Counts) -> int:
    """Set the rows of the tokens that the file knows; returns how many.

    A vector narrower than the embedding fills its first columns.

    Args:
        spelled: the id of each token, by its spelling in the file.

    Raises:
        InputError: a line that is no vector, vectors wider than the embedding, or no token in common.
    """
    found = 0
    with torch.no_grad():
        for number, line in read_lines(path, counts):
            token, *numbers = line.rstrip(" ").split(" ")
            if number == 1 and len(numbers) == 1:
                continue
            if len(numbers) > embedding.embedding_dim:
                raise InputError(f"{path}:{number}: {len(numbers)} numbers for --width {embedding.embedding_dim}")
            index = spelled.get(token)
            if index is None:
                continue
            try:
                embedding.weight[index, : len(numbers)] = torch.tensor([float(value) for value in numbers])
            except ValueError as error:
                raise InputError(f"{path}:{number}: not a vector ({error})") from error
            found += 1
    if not found:
        raise InputError(
            f"{path}: knows no token of this vocabulary",
            "build the dataset with the tokenizer of these vectors",
        )
    return found


def write_vectors(vectors: Mapping[str, np.ndarray], path: Path) -> None:
    """Write the vectors, [D] of each token, in the order given; `load_vectors` reads them."""
    width = len(next(iter(vectors.values()))) if vectors else 0
    with path.open("w", encoding="utf-8") as stream:
        stream.write(f"{len(vectors)} {width}\n")
        for token, vector in vectors.items():
            stream.write(f"{token} {' '.join(f'{value:.6f}' for value in vector.tolist())}\n")
