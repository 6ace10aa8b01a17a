"""Pairs with the probabilities that a model gave them, and the rules for which pairs count.

All measures follow the same rules:

- A pair excluded as `unmapped` or `inferred` is neither positive nor negative; a prediction for it is ignored.
- A pair excluded as `hypernym` is also ignored if the filter of section 3.1.1 is on. If the filter is off, the pair
  is a negative.
- A fact of a pair that was not scored (`not_mentioned`, `too_long`) counts as missed. `ScoredPair.is_scored` decides,
  not the reason: a document over the token limit may still have been scored in windows.
- NULL is the absence of a prediction, not a class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
import numpy.typing as npt

from biorel.errors import InputError, ModelError
from biorel.records import Exclusion, Pair

NEITHER = frozenset({Exclusion.UNMAPPED, Exclusion.INFERRED})
NOT_SCORED = -1


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """The output of a model for one pair.

    Attributes:
        pair: the pair with its gold labels and, if the pair is excluded, the reason.
        probabilities: [R] in label order, without NULL; all 0 if the pair was not scored.
        distance: tokens between the closest mentions; `NOT_SCORED` (-1) if the pair was not scored.
    """

    pair: Pair
    probabilities: tuple[float, ...]
    distance: int

    @property
    def key(self) -> tuple[str, str, str]:
        """(document, head, tail), the key of a table of pairs."""
        return (self.pair.doc_id, self.pair.head_id, self.pair.tail_id)

    @property
    def pair_type(self) -> str:
        """`chemical_disease` for a Chemical and a Disease."""
        return f"{self.pair.head_type}_{self.pair.tail_type}".lower()

    @property
    def is_scored(self) -> bool:
        return self.distance != NOT_SCORED


def counts(scored: ScoredPair, filtered: bool) -> bool:
    """Whether the pair counts as positive or negative, with or without the filter of section 3.1.1."""
    return scored.pair.excluded_because not in NEITHER and not (
        filtered and scored.pair.excluded_because == Exclusion.HYPERNYM
    )


def distinct(scored: Iterable[ScoredPair]) -> list[ScoredPair]:
    """The pairs, each (document, head, tail) once, in order of first appearance.

    Raises:
        InputError: a pair occurs twice with different contents.
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
    """Check that gold facts and probabilities fit the model's labels.

    Raises:
        ModelError: a gold relation has no label, the number of probabilities is not that of the labels, or a
            probability is not finite.
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
                "the scores belong to another model",
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
    """The pair type with most gold facts of each relation; relations without gold facts are left out."""
    support = Counter((relation, one.pair_type) for one in scored for relation in set(one.pair.relations))
    homes: dict[str, str] = {}
    for relation, pair_type in sorted(support, key=lambda key: (-support[key], key)):
        homes.setdefault(relation, pair_type)
    return homes
