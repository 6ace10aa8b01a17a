"""Branches of knowledge beside the tokens of a text: where they stand, and who sees whom (K-BERT).

The network lays out a text as its T tokens, then the K branches of L tokens each; attention does not care for the
order, and positions are told to it. S = T + K L. `knowledge.tree` has the same as pure functions of one sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor


@dataclass(frozen=True)
class Branches:
    """The branches of several documents, padded; a mask is True where something is real.

    Attributes:
        token_ids: [B, K, L] int64.
        mask: [B, K, L] bool; a branch that is padded has no real token.
        anchors: [B, K, T] bool, the tokens of the text that a branch hangs on.
    """

    token_ids: Tensor
    mask: Tensor
    anchors: Tensor

    def window(self, row: int, start: int, end: int) -> Self | None:
        """The branches of one document that hang on one of its tokens [start, end), [1, K', ...]; None for none."""
        anchors = self.anchors[row : row + 1, :, start:end]
        held = anchors[0].any(-1)
        if not held.any():
            return None
        return type(self)(self.token_ids[row : row + 1, held], self.mask[row : row + 1, held], anchors[:, held])


@dataclass(frozen=True)
class Layout:
    """How the S tokens of a text with branches are read.

    Attributes:
        text: T.
        branches: K.
        visible: [B, S, S] bool, who attends (rows) to whom (columns).
    """

    text: int
    branches: int
    visible: Tensor


def branch_starts(anchors: Tensor) -> Tensor:
    """[B, K, T] -> [B, K]: the place behind the first unbroken run of anchors; 1 for a branch without any."""
    length = anchors.shape[-1]
    places = torch.arange(length, device=anchors.device)
    first = anchors.int().argmax(-1)  # [B, K]
    broken = ~anchors & (places > first[..., None])
    ends = broken.int().argmax(-1)
    return torch.where(broken.any(-1), ends, ends.new_tensor(length)).clamp(min=1)


def positions(branches: Branches, *, soft: bool) -> Tensor:
    """[B, S] places: of the text's tokens, then of the branches'.

    Args:
        soft: read along the tree, a branch going on where its anchors end; else those of one row in which each
            branch stands behind its anchors (K-BERT's hard positions, an ablation).
    """
    batch, number, width = branches.mask.shape
    length = branches.anchors.shape[-1]
    device = branches.mask.device
    starts = branch_starts(branches.anchors)  # [B, K]
    text = torch.arange(length, device=device).expand(batch, length)
    within = torch.arange(width, device=device)
    if soft:
        of_branches = starts[..., None] + within
    else:
        sizes = branches.mask.sum(-1)  # [B, K]
        before = starts[:, None, :] < starts[:, :, None]  # [B, K, K]: the column stands before the row
        order = torch.arange(number, device=device)
        before |= (starts[:, None, :] == starts[:, :, None]) & (order[None, :] < order[:, None])
        shifts = (before * sizes[:, None, :]).sum(-1)  # [B, K]
        of_branches = (starts + shifts)[..., None] + within
        text = text + ((starts[:, None, :] <= text[..., None]) * sizes[:, None, :]).sum(-1)
    return torch.cat([text, of_branches.flatten(1)], dim=1)


def layout(mask: Tensor, branches: Branches, *, restricted: bool = True) -> Layout:
    """Who sees whom: the text itself, a branch itself, a branch and its anchors; nobody sees padding.

    What is padding itself sees the whole text, so that no row is empty; nothing reads it.

    Args:
        mask: [B, T] the real tokens of the text.
        restricted: False lets every real token see every other (an ablation).
    """
    batch, length = mask.shape
    number, width = branches.mask.shape[1:]
    real = torch.cat([mask, branches.mask.flatten(1)], dim=1)  # [B, S]
    if not restricted:
        visible = real[:, None, :].expand(-1, real.shape[1], -1)
        return Layout(length, number, visible)
    chain = torch.arange(number, device=mask.device).repeat_interleave(width)  # [K L]
    same = (chain[:, None] == chain[None, :]).expand(batch, -1, -1)
    hangs = branches.anchors.repeat_interleave(width, dim=1)  # [B, K L, T]
    of_text = torch.cat([torch.ones_like(mask)[:, None, :].expand(-1, length, -1), hangs.transpose(1, 2)], dim=2)
    of_branches = torch.cat([hangs, same], dim=2)
    visible = torch.cat([of_text, of_branches], dim=1) & real[:, None, :]
    whole = torch.cat([mask, torch.zeros_like(branches.mask.flatten(1))], dim=1)[:, None, :]
    return Layout(length, number, torch.where(real[:, :, None], visible, whole))
