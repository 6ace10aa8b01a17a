"""A pair with the probabilities that a model gave it, and which pairs a measure looks at.

Every file of this room follows one policy:

- A pair with `drop` `unmapped` or `inferred` is neither positive nor negative: nothing said of it is right or
  wrong.
- A `hypernym` pair is such a pair too where the filter of section 3.1.1 is on; where it is off, it is a
  negative as any other.
- A fact of a pair that could not be scored (`not_mentioned`, `too_long`) is never predicted, and recall still
  divides by it. What could be scored is told by `ScoredPair.is_scored`, not by the reason: a document over
  the cap that was read in windows counts as any other.
- NULL is the absence of a prediction, never a class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
import numpy.typing as npt

from biorel.errors import InputError, ModelError
from biorel.records import HYPERNYM, INFERRED, UNMAPPED, Pair

NEITHER = frozenset({UNMAPPED, INFERRED})
NOT_SCORED = -1


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """What a model says of one pair.

    Attributes:
        pair: with its gold labels and the reason, if any, why it is held back.
        probabilities: [R], the relations in label order without NULL; all 0 where the pair was not scored.
        distance: tokens between the closest mentions; `NOT_SCORED` (-1) where the pair was not scored.
    """

    pair: Pair
    probabilities: tuple[float, ...]
    distance: int

    @property
    def key(self) -> tuple[str, str, str]:
        """(document, head, tail): what a table of pairs is keyed by."""
        return (self.pair.doc_id, self.pair.head_id, self.pair.tail_id)

    @property
    def pair_type(self) -> str:
        """`chemical_disease` for a Chemical and a Disease."""
        return f"{self.pair.head_type}_{self.pair.tail_type}".lower()

    @property
    def is_scored(self) -> bool:
        return self.distance != NOT_SCORED


def counts(scored: ScoredPair, filtered: bool) -> bool:
    """Whether the pair is positive or negative, under the filter of section 3.1.1 or without it."""
    return scored.pair.excluded_because not in NEITHER and not (filtered and scored.pair.excluded_because == HYPERNYM)


def distinct(scored: Iterable[ScoredPair]) -> list[ScoredPair]:
    """The pairs, each (document, head, tail) once, in order of first appearance.

    Raises:
        InputError: one pair comes twice and differs; which of the two is meant would hang on their order.
    """
    by_key: dict[tuple[str, str, str], ScoredPair] = {}
    for one in scored:
        if by_key.setdefault(one.key, one) != one:
            raise InputError(
                f"document {one.key[0]}: the pair {one.key[1]}, {one.key[2]} has two different rows",
                "score each pair once",
            )
    return list(by_key.values())


def check(scored: Iterable[ScoredPair], labels: Sequence[str]) -> None:
    """See that gold facts and probabilities speak of the model's labels.

    Raises:
        ModelError: a gold relation that the model has no label for, another number of probabilities than
            labels, or a probability that is not a number.
    """
    known = frozenset(labels)
    for one in scored:
        for relation in one.pair.relations:
            if relation not in known:
                raise ModelError(
                    f"document {one.pair.doc_id}: relation {relation!r} is not among the model's labels",
                    "evaluate on a dataset with the relation schema that the model was trained with",
                )
        if one.is_scored and len(one.probabilities) != len(labels):
            raise ModelError(
                f"document {one.pair.doc_id}: {len(one.probabilities)} probabilities, {len(labels)} labels",
                "these scores are of another model",
            )
        if not all(map(isfinite, one.probabilities)):
            raise ModelError(
                f"document {one.pair.doc_id}: the model gives a probability that is not a number",
                "its training diverged; lower the learning rate",
            )


def probability_matrix(scored: Sequence[ScoredPair], relations: int) -> npt.NDArray[np.float64]:
    """[P, R] probabilities."""
    return np.array([one.probabilities for one in scored], dtype=np.float64).reshape(len(scored), relations)


def home_types(scored: Iterable[ScoredPair]) -> dict[str, str]:
    """The pair type in which each relation has most of its gold facts; a relation without any is left out."""
    support = Counter((relation, one.pair_type) for one in scored for relation in set(one.pair.relations))
    homes: dict[str, str] = {}
    for relation, pair_type in sorted(support, key=lambda key: (-support[key], key)):
        homes.setdefault(relation, pair_type)
    return homes
