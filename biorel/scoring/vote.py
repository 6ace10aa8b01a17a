"""From scores within documents to one score over documents: the vote of DGCNN.

Numbers matter, but 1 + 1 < 2: four documents that are 0.2 sure do not outweigh one that is 0.7 sure. Within a
document an answer counts once, with its best score; across documents s = sum s_i^2 / (1 + sum s_i).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from biorel.errors import ConfigError

K = TypeVar("K", bound=Hashable)


def smoothed(scores: Sequence[float]) -> float:
    """sum s^2 / (1 + sum s): the formula that the author used in the competition; below 1 for one document."""
    return squares(scores) / (1 + total(scores))


def squares(scores: Sequence[float]) -> float:
    """sum s^2: the plainer formula."""
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
        by_document: the best score within each document that holds the answer, highest first.
    """

    answer: K
    score: float
    by_document: Mapping[str, float]

    @property
    def support(self) -> int:
        """Number of distinct documents."""
        return len(self.by_document)


def vote(found: Iterable[tuple[K, str, float]], rule: str = "smoothed") -> list[Voted[K]]:
    """The answers by descending vote; of equal ones the one with more documents, then the first in the alphabet.

    The order of the input has no bearing on the result.

    Args:
        found: (answer, document, score in 0..1); an answer may come several times in a document.
        rule: a key of `VOTES`.

    Raises:
        ConfigError: no such rule.
    """
    if rule not in VOTES:
        raise ConfigError(f"no vote {rule!r}", f"votes are {', '.join(VOTES)}")
    best: dict[K, dict[str, float]] = {}
    for answer, document, score in found:
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


def reciprocal_rank(ranked: Sequence[K], right: frozenset[K]) -> float:
    """1 / the rank of the first right answer; 0 where none is among them."""
    return next((1 / rank for rank, answer in enumerate(ranked, start=1) if answer in right), 0.0)
