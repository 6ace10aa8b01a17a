"""Combining the scores of an answer in several documents into one score: the vote of DGCNN.

More documents raise the score, but less than proportionally: four documents with a score of 0.2 do not outweigh one
with 0.7. Within a document an answer counts once, with its best score. Across documents
s = sum s_i^2 / (1 + sum s_i).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from biorel.errors import ConfigError

K = TypeVar("K", bound=Hashable)


def smoothed(scores: Sequence[float]) -> float:
    """sum s^2 / (1 + sum s): the formula that the author used in the competition."""
    return squares(scores) / (1 + total(scores))


def squares(scores: Sequence[float]) -> float:
    """sum s^2: the simpler formula."""
    return sum(score * score for score in sorted(scores))


def total(scores: Sequence[float]) -> float:
    """sum s, for comparison."""
    return sum(sorted(scores))


def highest(scores: Sequence[float]) -> float:
    """max s, for comparison."""
    return max(scores, default=0.0)


VOTES: dict[str, Callable[[Sequence[float]], float]] = {
    "smoothed": smoothed,
    "squares": squares,
    "sum": total,
    "max": highest,
}


@dataclass(frozen=True)
class Voted(Generic[K]):
    """An answer over all documents.

    Attributes:
        score: the vote.
        by_document: the best score in each document that contains the answer, highest first.
    """

    answer: K
    score: float
    by_document: Mapping[str, float]

    @property
    def support(self) -> int:
        """Number of distinct documents."""
        return len(self.by_document)


def vote(scored: Iterable[tuple[K, str, float]], rule: str = "smoothed") -> list[Voted[K]]:
    """The answers by descending vote, then by descending number of documents, then alphabetically.

    The result does not depend on the order of the input.

    Args:
        scored: (answer, document, score in 0..1); an answer may occur several times in a document.
        rule: a key of `VOTES`.

    Raises:
        ConfigError: the rule is unknown.
    """
    if rule not in VOTES:
        raise ConfigError(f"unknown vote {rule!r}", f"use one of {', '.join(VOTES)}")
    best: dict[K, dict[str, float]] = {}
    for answer, document, score in scored:
        scores = best.setdefault(answer, {})
        scores[document] = max(score, scores.get(document, score))
    voted = [
        Voted(
            answer,
            VOTES[rule](list(scores.values())),
            dict(sorted(scores.items(), key=lambda item: (-item[1], item[0]))),
        )
        for answer, scores in best.items()
    ]
    return sorted(voted, key=lambda one: (-one.score, -one.support, str(one.answer)))


def reciprocal_rank(ranked: Sequence[K], correct: frozenset[K]) -> float:
    """1 / the rank of the first correct answer; 0 if there is none."""
    return next((1 / rank for rank, answer in enumerate(ranked, start=1) if answer in correct), 0.0)
