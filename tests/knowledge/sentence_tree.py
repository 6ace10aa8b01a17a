"""The sentence tree of K-BERT (figure 2), as a naive reference for the tests.

A branch is attached to its anchors, the sentence tokens of one entity. Hard positions number the tokens of the
flattened tree: a branch directly follows the first contiguous run of its anchors. Soft positions number them along the
tree: the first token of the branch and the next token of the sentence both follow that run. Tokens of the sentence see
each other, and so do the tokens of one branch. A branch and its anchors see each other; two branches never do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T")
SENTENCE = -1
SEGMENT_A = 0


@dataclass(frozen=True)
class Branch(Generic[T]):
    """The tokens of a triple (predicate and object), and the ascending sentence positions that it is attached to."""

    tokens: tuple[T, ...]
    anchors: tuple[int, ...]


@dataclass(frozen=True)
class FlatTree(Generic[T]):
    """A flattened sentence tree of S tokens; the hard position of a token is its index.

    Attributes:
        tokens: [S].
        soft: [S] soft positions.
        segments: [S] segment ids, always segment A.
        chains: [S] the branch of each token, or `SENTENCE`.
        visible: [S, S] bool, symmetric.
    """

    tokens: tuple[T, ...]
    soft: tuple[int, ...]
    segments: tuple[int, ...]
    chains: tuple[int, ...]
    visible: npt.NDArray[np.bool_]

    def additive(self) -> npt.NDArray[np.float32]:
        """M of the mask-self-attention: [S, S], 0 where visible, minus infinity elsewhere."""
        return np.where(self.visible, np.float32(0), np.float32(-np.inf)).astype(np.float32)


def branch_start(anchors: Sequence[int]) -> int:
    """The sentence position before which a branch is inserted: the end of the first contiguous run of its anchors.

    Raises:
        ValueError: a branch has no anchor.
    """
    if not anchors:
        raise ValueError("a branch needs an anchor")
    end = anchors[0] + 1
    for anchor in anchors[1:]:
        if anchor != end:
            break
        end += 1
    return end


def flatten(sentence: Sequence[T], branches: Sequence[Branch[T]]) -> FlatTree[T]:
    """Flatten the tree. Branches that start at the same position keep their order.

    Raises:
        ValueError: a branch has no anchor.
    """
    starts = [branch_start(branch.anchors) for branch in branches]
    order = sorted(range(len(branches)), key=lambda number: (starts[number], number))
    tokens: list[T] = []
    soft: list[int] = []
    chains: list[int] = []
    place_of: list[int] = []  # hard positions of the sentence tokens
    waiting = iter([*order, None])
    upcoming = next(waiting)
    for place in range(len(sentence) + 1):
        while upcoming is not None and starts[upcoming] == place:
            branch = branches[upcoming].tokens
            tokens.extend(branch)
            soft.extend(range(place, place + len(branch)))
            chains.extend([upcoming] * len(branch))
            upcoming = next(waiting)
        if place < len(sentence):
            place_of.append(len(tokens))
            tokens.append(sentence[place])
            soft.append(place)
            chains.append(SENTENCE)
    anchors = [[place_of[anchor] for anchor in branch.anchors] for branch in branches]
    return FlatTree(
        tuple(tokens), tuple(soft), (SEGMENT_A,) * len(tokens), tuple(chains), visible_matrix(chains, anchors)
    )


def visible_matrix(chains: Sequence[int], anchors: Sequence[Sequence[int]]) -> npt.NDArray[np.bool_]:
    """The visible matrix, [S, S]: True within a chain, and between a branch and its anchors.

    Args:
        chains: [S] as in `FlatTree`.
        anchors: the hard positions of the anchors of each branch.
    """
    chain_of = np.asarray(chains, dtype=np.int64)
    visible: npt.NDArray[np.bool_] = chain_of[:, None] == chain_of[None, :]
    for number, positions in enumerate(anchors):
        places = np.asarray(positions, dtype=np.int64)
        branch = np.flatnonzero(chain_of == number)
        visible[np.ix_(branch, places)] = True
        visible[np.ix_(places, branch)] = True
    return visible
