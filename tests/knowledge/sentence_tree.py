"""The sentence tree of K-BERT (figure 2), as pure functions of lengths and places.

A branch hangs on tokens of the sentence, its anchors: those of one entity. Laid out in one row (hard positions), a
branch stands right behind the first unbroken run of its anchors; read along the tree (soft positions), its first token
follows the last of that run, as the next token of the sentence does. A token sees its own chain; between the sentence
and a branch only the anchors see and are seen; branches never see each other.
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
    """The tokens of one triple (predicate and object), and the tokens of the sentence that it hangs on, ascending."""

    tokens: tuple[T, ...]
    anchors: tuple[int, ...]


@dataclass(frozen=True)
class Flat(Generic[T]):
    """A sentence tree in one row of S tokens; the hard position of a token is its place there.

    Attributes:
        tokens: [S].
        soft: [S] soft positions.
        segments: [S] all of segment A.
        chains: [S] the branch of each token, `SENTENCE` for the sentence's own.
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
    """The place in the sentence that a branch stands before: behind the first unbroken run of its anchors.

    Raises:
        ValueError: a branch that hangs on nothing.
    """
    if not anchors:
        raise ValueError("a branch hangs on one token at least")
    end = anchors[0] + 1
    for anchor in anchors[1:]:
        if anchor != end:
            break
        end += 1
    return end


def flatten(sentence: Sequence[T], branches: Sequence[Branch[T]]) -> Flat[T]:
    """Lay the tree out in one row; branches that start at one place stand in the order given.

    Raises:
        ValueError: a branch that hangs on nothing.
    """
    starts = [branch_start(branch.anchors) for branch in branches]
    order = sorted(range(len(branches)), key=lambda number: (starts[number], number))
    tokens: list[T] = []
    soft: list[int] = []
    chains: list[int] = []
    place_of: list[int] = []  # hard positions of the sentence's own tokens
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
    return Flat(tuple(tokens), tuple(soft), (SEGMENT_A,) * len(tokens), tuple(chains), visible_matrix(chains, anchors))


def visible_matrix(chains: Sequence[int], anchors: Sequence[Sequence[int]]) -> npt.NDArray[np.bool_]:
    """Who sees whom, [S, S]: tokens of one chain each other, and a branch and its anchors each other.

    Args:
        chains: [S] as of `Flat`.
        anchors: of each branch the hard positions of its anchors.
    """
    of = np.asarray(chains, dtype=np.int64)
    visible: npt.NDArray[np.bool_] = of[:, None] == of[None, :]
    for number, hangs in enumerate(anchors):
        places = np.asarray(hangs, dtype=np.int64)
        branch = np.flatnonzero(of == number)
        visible[np.ix_(branch, places)] = True
        visible[np.ix_(places, branch)] = True
    return visible
