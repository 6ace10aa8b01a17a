"""Position the knowledge branches of a text, and determine which token attends to which (K-BERT, Liu et al. 2020).

A branch is a short token sequence, made from triples of a graph, that is attached to tokens of the text: its anchors.
The network lays out a text as its T tokens followed by the N tokens of all its branches, S = T + N. The order is free,
as attention ignores it and positions are given explicitly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor


@dataclass(frozen=True)
class Branches:
    """The padded branches of several documents. A mask is True where a value is real.

    Attributes:
        token_ids: [B, G, L] int64.
        mask: [B, G, L] bool; a padded branch has no real token.
        anchors: [B, G, T] bool, the tokens of the text to which a branch is attached.
    """

    token_ids: Tensor
    mask: Tensor
    anchors: Tensor

    def window(self, row: int, start: int, end: int) -> Self | None:
        """The branches of one document with an anchor among tokens [start, end), as [1, G', ...], or None."""
        anchors = self.anchors[row : row + 1, :, start:end]
        held = anchors[0].any(-1)
        if not held.any():
            return None
        return type(self)(self.token_ids[row : row + 1, held], self.mask[row : row + 1, held], anchors[:, held])


@dataclass(frozen=True)
class Layout:
    """The S tokens of texts with branches: positions, and attention.

    Attributes:
        text: T.
        branch_index: [B, N], the index in G L of each branch token; 0 for padding.
        real: [B, S] bool.
        positions: [B, S].
        visible: [B, S, S] bool, True where the token of the row attends to the token of the column.
        sequences: [Q, L] bool, the mask of all Q branches of the batch, one in a row.
        sources, targets: indices of the real branch tokens in [B N], and in [Q L].
    """

    text: int
    branch_index: Tensor
    real: Tensor
    positions: Tensor
    visible: Tensor
    sequences: Tensor
    sources: Tensor
    targets: Tensor

    def tokens(self, token_ids: Tensor, branches: Branches) -> Tensor:
        """[B, T] token ids of the texts -> [B, S], with those of the branches appended."""
        return torch.cat([token_ids, branches.token_ids.flatten(1).gather(1, self.branch_index)], dim=1)

    def apply_to_sequences(self, function: Callable[[Tensor, Tensor], Tensor], tokens: Tensor) -> Tensor:
        """Apply a function to the text and to each branch separately, so that it mixes no two of these sequences.

        Args:
            function: maps [B, T, D] and the mask [B, T] to [B, T, D].
            tokens: [B, S, D].

        Returns:
            [B, S, D].
        """
        text, packed = tokens[:, : self.text], tokens[:, self.text :].flatten(0, 1)  # [B, T, D] and [B N, D]
        rows = packed.new_zeros(self.sequences.numel(), packed.shape[-1])
        rows = rows.index_copy(0, self.targets, packed[self.sources]).view(*self.sequences.shape, -1)
        done = function(rows, self.sequences).flatten(0, 1)[self.targets]
        branches = torch.zeros_like(packed).index_copy(0, self.sources, done).view(*self.branch_index.shape, -1)
        return torch.cat([function(text, self.real[:, : self.text]), branches], dim=1)


def branch_starts(anchors: Tensor) -> Tensor:
    """The position after the first contiguous run of anchors: [B, G, T] -> [B, G]; 1 for a branch without anchors."""
    length = anchors.shape[-1]
    places = torch.arange(length, device=anchors.device)
    first = anchors.int().argmax(-1)  # [B, G]
    broken = ~anchors & (places > first[..., None])
    ends = broken.int().argmax(-1)
    return torch.where(broken.any(-1), ends, ends.new_tensor(length)).clamp(min=1)


def layout(mask: Tensor, branches: Branches, *, soft: bool = True, restricted: bool = True) -> Layout:
    """Lay out texts with their branches.

    A padding token attends to the whole text, so that no row of `visible` is empty; its output is never used.

    Args:
        mask: [B, T], the real tokens of the texts.
        soft: use K-BERT's soft positions, where a branch continues the numbering of its anchors. Otherwise the text
            and its branches are numbered as one sequence, each branch after its anchors (hard positions, an ablation).
        restricted: use K-BERT's visible matrix: the text attends to itself, a branch to itself, a branch and its
            anchors to each other. Otherwise every token attends to every real token (an ablation).
    """
    number, width = branches.mask.shape[1:]
    held = branches.mask.flatten(1)  # [B, G L]
    most = int(held.sum(1).max())
    index = held.int().argsort(dim=1, descending=True, stable=True)[:, :most]  # [B, N]
    of_branches = held.gather(1, index)
    real = torch.cat([mask, of_branches], dim=1)
    text_positions, branch_positions = _positions(branches, soft=soft)
    owners = index // width  # [B, N], of G branches

    kept = branches.mask.any(-1).flatten()  # [B G]
    numbers = kept.cumsum(0) - 1  # of the rows in Q
    sources = of_branches.flatten().nonzero().squeeze(1)
    grid = (torch.arange(len(mask), device=mask.device)[:, None] * number + owners).flatten()[sources]  # of [B G]
    return Layout(
        text=mask.shape[1],
        branch_index=index,
        real=real,
        positions=torch.cat([text_positions, branch_positions.flatten(1).gather(1, index)], dim=1),
        visible=_visible(real, branches.anchors, owners) if restricted else real[:, None].expand(-1, real.shape[1], -1),
        sequences=branches.mask.flatten(0, 1)[kept],
        sources=sources,
        targets=numbers[grid] * width + (index % width).flatten()[sources],
    )


def _positions(branches: Branches, *, soft: bool) -> tuple[Tensor, Tensor]:
    """[B, T] of the texts and [B, G, L] of the branches."""
    batch, number, width = branches.mask.shape
    length = branches.anchors.shape[-1]
    device = branches.mask.device
    starts = branch_starts(branches.anchors)  # [B, G]
    text = torch.arange(length, device=device).expand(batch, length)
    within = torch.arange(width, device=device)
    if soft:
        return text, starts[..., None] + within
    lengths = branches.mask.sum(-1)  # [B, G]
    before = starts[:, None, :] < starts[:, :, None]  # [B, G, G]: the column's branch comes before the row's
    order = torch.arange(number, device=device)
    before |= (starts[:, None, :] == starts[:, :, None]) & (order[None, :] < order[:, None])
    shifts = (before * lengths[:, None, :]).sum(-1)  # [B, G]
    moved = ((starts[:, None, :] <= text[..., None]) * lengths[:, None, :]).sum(-1)
    return text + moved, (starts + shifts)[..., None] + within


def _visible(real: Tensor, anchors: Tensor, owners: Tensor) -> Tensor:
    """K-BERT's visible matrix, [B, S, S]."""
    length = anchors.shape[-1]
    attached = anchors.gather(1, owners[..., None].expand(-1, -1, length))  # [B, N, T]
    of_text = torch.cat([attached.new_ones(len(real), length, length), attached.transpose(1, 2)], dim=2)
    same_branch = owners[:, :, None] == owners[:, None, :]  # [B, N, N]
    visible = torch.cat([of_text, torch.cat([attached, same_branch], dim=2)], dim=1) & real[:, None, :]
    in_text = torch.arange(real.shape[1], device=real.device) < length
    return torch.where(real[:, :, None], visible, (real & in_text)[:, None, :])
