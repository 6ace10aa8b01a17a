"""Branches of knowledge beside the tokens of a text: where they stand, and who sees whom (K-BERT).

The network lays out a text as its T tokens, then the M tokens of all its branches one behind the other; attention does
not care for the order, and positions are told to it. S = T + M. `knowledge.tree` has the same as pure functions of one
sentence.
"""

from __future__ import annotations

from collections.abc import Callable
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
        places: [B, M] which of the K L places of its branches each token is; 0 for padding.
        real: [B, S] bool.
        positions: [B, S].
        visible: [B, S, S] bool, who attends (rows) to whom (columns).
        rows: [N, L] bool, the mask of the N branches of all documents, each a row of its own.
        sources, targets: where the real tokens of branches stand in [B M], and where in [N L].
    """

    text: int
    places: Tensor
    real: Tensor
    positions: Tensor
    visible: Tensor
    rows: Tensor
    sources: Tensor
    targets: Tensor

    def tokens(self, token_ids: Tensor, branches: Branches) -> Tensor:
        """[B, T] ids of the text -> [B, S], those of its branches behind it."""
        return torch.cat([token_ids, branches.token_ids.flatten(1).gather(1, self.places)], dim=1)

    def by_chain(self, half: Callable[[Tensor, Tensor], Tensor], tokens: Tensor) -> Tensor:
        """A map of tokens and their mask, over the text and over each branch, none of which reaches into another.

        Args:
            half: [B, T, D] and [B, T] -> [B, T, D].
            tokens: [B, S, D].
        """
        text, packed = tokens[:, : self.text], tokens[:, self.text :].flatten(0, 1)  # [B, T, D] and [B M, D]
        rows = packed.new_zeros(self.rows.numel(), packed.shape[-1])
        rows = rows.index_copy(0, self.targets, packed[self.sources]).view(*self.rows.shape, -1)
        done = half(rows, self.rows).flatten(0, 1)[self.targets]
        branches = torch.zeros_like(packed).index_copy(0, self.sources, done).view(*self.places.shape, -1)
        return torch.cat([half(text, self.real[:, : self.text]), branches], dim=1)


def branch_starts(anchors: Tensor) -> Tensor:
    """[B, K, T] -> [B, K]: the place behind the first unbroken run of anchors; 1 for a branch without any."""
    length = anchors.shape[-1]
    places = torch.arange(length, device=anchors.device)
    first = anchors.int().argmax(-1)  # [B, K]
    broken = ~anchors & (places > first[..., None])
    ends = broken.int().argmax(-1)
    return torch.where(broken.any(-1), ends, ends.new_tensor(length)).clamp(min=1)


def layout(mask: Tensor, branches: Branches, *, soft: bool = True, restricted: bool = True) -> Layout:
    """Where the tokens stand, and who sees whom.

    What is padding itself sees the whole text, so that no row is empty; nothing reads it.

    Args:
        mask: [B, T] the real tokens of the text.
        soft: positions are read along the tree, a branch going on where its anchors end; else those of one row in
            which each branch stands behind its anchors (K-BERT's hard positions, an ablation).
        restricted: the text sees itself, a branch itself, a branch and its anchors one another; else every real token
            sees every other (an ablation).
    """
    number, width = branches.mask.shape[1:]
    held = branches.mask.flatten(1)  # [B, K L]
    most = int(held.sum(1).max())
    places = held.int().argsort(dim=1, descending=True, stable=True)[:, :most]  # [B, M]
    of_branches = held.gather(1, places)
    real = torch.cat([mask, of_branches], dim=1)
    text_places, branch_places = _positions(branches, soft=soft)
    owners = places // width  # [B, M], of K branches

    kept = branches.mask.any(-1).flatten()  # [B K]
    numbers = kept.cumsum(0) - 1  # of the rows
    sources = of_branches.flatten().nonzero().squeeze(1)
    grid = (torch.arange(len(mask), device=mask.device)[:, None] * number + owners).flatten()[sources]  # of [B K]
    return Layout(
        text=mask.shape[1],
        places=places,
        real=real,
        positions=torch.cat([text_places, branch_places.flatten(1).gather(1, places)], dim=1),
        visible=_visible(real, branches.anchors, owners) if restricted else real[:, None].expand(-1, real.shape[1], -1),
        rows=branches.mask.flatten(0, 1)[kept],
        sources=sources,
        targets=numbers[grid] * width + (places % width).flatten()[sources],
    )


def _positions(branches: Branches, *, soft: bool) -> tuple[Tensor, Tensor]:
    """[B, T] of the text and [B, K, L] of the branches."""
    batch, number, width = branches.mask.shape
    length = branches.anchors.shape[-1]
    device = branches.mask.device
    starts = branch_starts(branches.anchors)  # [B, K]
    text = torch.arange(length, device=device).expand(batch, length)
    within = torch.arange(width, device=device)
    if soft:
        return text, starts[..., None] + within
    sizes = branches.mask.sum(-1)  # [B, K]
    before = starts[:, None, :] < starts[:, :, None]  # [B, K, K]: the column stands before the row
    order = torch.arange(number, device=device)
    before |= (starts[:, None, :] == starts[:, :, None]) & (order[None, :] < order[:, None])
    shifts = (before * sizes[:, None, :]).sum(-1)  # [B, K]
    moved = ((starts[:, None, :] <= text[..., None]) * sizes[:, None, :]).sum(-1)
    return text + moved, (starts + shifts)[..., None] + within


def _visible(real: Tensor, anchors: Tensor, owners: Tensor) -> Tensor:
    """K-BERT's visible matrix [B, S, S]."""
    length = anchors.shape[-1]
    hangs = anchors.gather(1, owners[..., None].expand(-1, -1, length))  # [B, M, T]
    of_text = torch.cat([hangs.new_ones(len(real), length, length), hangs.transpose(1, 2)], dim=2)
    same = owners[:, :, None] == owners[:, None, :]  # [B, M, M]
    visible = torch.cat([of_text, torch.cat([hangs, same], dim=2)], dim=1) & real[:, None, :]
    of_the_text = torch.arange(real.shape[1], device=real.device) < length
    return torch.where(real[:, :, None], visible, (real & of_the_text)[:, None, :])
