"""Hide some tokens of a text, as BERT does (Devlin et al. 2019), and collate such texts into batches.

Of the hidden tokens 80 % become UNK, 10 % a random token, and 10 % stay. The network predicts all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from biorel.model.batch import Tensors
from biorel.text.tokenizer import PAD_ID, UNK_ID

HIDDEN, REPLACED = 0.8, 0.1
_FIRST_WORD = max(PAD_ID, UNK_ID) + 1

Ids = np.ndarray


@dataclass(frozen=True)
class MaskedText:
    """A text with J hidden tokens: [T] token ids as the network reads them, [J] hidden positions, and [J] true ids."""

    token_ids: Ids
    places: Ids
    targets: Ids


@dataclass(frozen=True)
class MaskedBatch(Tensors):
    """Padded texts with J hidden tokens: [B, T] token ids and mask; [J] flat indices in [B T], and [J] true ids."""

    token_ids: Tensor
    mask: Tensor
    places: Tensor
    targets: Tensor


def can_be_masked(token_ids: Ids) -> bool:
    """Whether a text has a token that can be predicted; UNK cannot."""
    return bool((token_ids >= _FIRST_WORD).any())


def mask_text(token_ids: Ids, *, share: float, vocabulary: int, random: np.random.Generator) -> MaskedText:
    """Hide a share of the known tokens of a text, but at least one.

    Args:
        token_ids: [T], for which `can_be_masked` is true.
        vocabulary: V; random tokens are drawn from all of it except PAD and UNK.
    """
    known = np.flatnonzero(token_ids >= _FIRST_WORD)
    number = max(1, round(share * len(known)))
    places = np.sort(random.permutation(known)[:number])
    fate = random.random(number)
    others = random.integers(_FIRST_WORD, vocabulary, size=number)
    shown = token_ids.copy()
    hidden, replaced = fate < HIDDEN, (fate >= HIDDEN) & (fate < HIDDEN + REPLACED)
    shown[places[hidden]] = UNK_ID
    shown[places[replaced]] = others[replaced]
    return MaskedText(shown, places, token_ids[places])


def collate_masked(texts: Sequence[MaskedText]) -> MaskedBatch:
    """The batch of these texts, in their order."""
    length = max(len(text.token_ids) for text in texts)
    token_ids = np.full((len(texts), length), PAD_ID, dtype=np.int64)
    mask = np.zeros((len(texts), length), dtype=bool)
    for row, text in enumerate(texts):
        token_ids[row, : len(text.token_ids)] = text.token_ids
        mask[row, : len(text.token_ids)] = True
    places = np.concatenate([row * length + text.places for row, text in enumerate(texts)])
    targets = np.concatenate([text.targets for text in texts]).astype(np.int64)
    return MaskedBatch(*map(torch.from_numpy, (token_ids, mask, places, targets)))


def pieces_of(token_ids: Ids, size: int) -> list[Ids]:
    """Cut a text into the fewest pieces of at most `size` tokens and of similar length.

    Pieces without a token that can be predicted are left out.
    """
    number = -(-len(token_ids) // size) or 1
    pieces = np.array_split(token_ids, number)
    return [piece for piece in pieces if can_be_masked(piece)]
