"""Encode texts longer than the learned positions in overlapping windows and join the results, without truncation.

Each token's vector comes from the window in which the token is nearest to the middle. Mentions, mention pairs and BIO
labels then refer to one document, so that a head and a tail far apart still form a mention pair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor

from biorel.model.branches import Branches


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens [start, end) are encoded together; the vectors of [keep_start, keep_end) are kept."""

    start: int
    end: int
    keep_start: int
    keep_end: int


def plan_windows(length: int, size: int) -> tuple[Window, ...]:
    """The fewest windows of at most `size` tokens, equally long, that overlap by a quarter of `size`.

    The kept parts tile [0, length) exactly; two of them meet in the middle of the overlap of their windows.
    """
    if length <= size:
        return (Window(0, length, 0, length),)
    overlap = min(size - 1, size // 4)
    number = -(-(length - overlap) // (size - overlap))
    span = -(-(length + overlap * (number - 1)) // number)
    starts = [round(index * (length - span) / (number - 1)) for index in range(number)]
    borders = [0, *((start + before + span) // 2 for before, start in pairwise(starts)), length]
    return tuple(
        Window(start, start + span, keep_start, keep_end)
        for start, (keep_start, keep_end) in zip(starts, pairwise(borders), strict=True)
    )


def encode_in_windows(
    encode: Callable[[Tensor, Tensor, Branches | None], Tensor],
    token_ids: Tensor,
    mask: Tensor,
    size: int,
    branches: Branches | None = None,
) -> Tensor:
    """[B, T] token ids and mask -> [B, T, D], for any T.

    The windows of a text depend only on its own length, so that its vectors are the same alone and in a batch. A branch
    is part of every window that holds one of its anchors.

    Args:
        encode: encodes at most `size` tokens.
    """
    length = token_ids.shape[1]
    if length <= size:
        return encode(token_ids, mask, branches)
    rows = []
    for row, (ids, real) in enumerate(zip(token_ids[:, None], mask[:, None], strict=True)):  # [1, T] each
        own_length = max(1, int(real.sum()))
        parts = [
            encode(
                ids[:, window.start : window.end],
                real[:, window.start : window.end],
                None if branches is None else branches.window(row, window.start, window.end),
            )[0, window.keep_start - window.start : window.keep_end - window.start]
            for window in plan_windows(own_length, size)
        ]
        rows.append(F.pad(torch.cat(parts), (0, 0, 0, length - own_length)))  # [T, D]
    return torch.stack(rows)
