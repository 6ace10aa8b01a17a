"""Read pre-trained vectors of sub-words or words into a token embedding, and write such vectors.

The file has the text format of word2vec: a line with count and width, then one line for each token with its numbers.
`biorel.text.tokenizer.spellings` gives the spelling of each token in the file.
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


def load_vectors(embedding: nn.Embedding, token_ids: Mapping[str, int], path: Path, counts: Counts) -> int:
    """Set the rows of the tokens that have a vector in the file; returns their number.

    A vector narrower than the embedding fills the first columns.

    Args:
        token_ids: the id of each token, by its spelling in the file.

    Raises:
        InputError: a line is malformed, the vectors are wider than the embedding, or no token has one.
    """
    found = 0
    with torch.no_grad():
        for number, line in read_lines(path, counts):
            token, *numbers = line.rstrip(" ").split(" ")
            if number == 1 and len(numbers) == 1:
                continue
            if len(numbers) > embedding.embedding_dim:
                raise InputError(
                    f"{path}:{number}: a vector of {len(numbers)} numbers is wider than "
                    f"--width {embedding.embedding_dim}"
                )
            index = token_ids.get(token)
            if index is None:
                continue
            try:
                embedding.weight[index, : len(numbers)] = torch.tensor([float(value) for value in numbers])
            except ValueError as error:
                raise InputError(f"{path}:{number}: not a vector ({error})") from error
            found += 1
    if not found:
        raise InputError(
            f"{path}: the file has no vector for any token of the dataset's vocabulary",
            "build the dataset with the tokenizer of these vectors",
        )
    return found


def write_vectors(vectors: Mapping[str, np.ndarray], path: Path) -> None:
    """Write the vectors, [D] for each token, in the given order."""
    width = len(next(iter(vectors.values()))) if vectors else 0
    with path.open("w", encoding="utf-8") as stream:
        stream.write(f"{len(vectors)} {width}\n")
        for token, vector in vectors.items():
            stream.write(f"{token} {' '.join(f'{value:.6f}' for value in vector.tolist())}\n")
