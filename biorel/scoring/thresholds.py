"""Turns probabilities into a decision: the most probable relation, or NULL below its threshold.

"For each prediction, the relation type with the maximum probability is assigned. If the probability is below
the relation specific threshold, the prediction is set to NULL" (appendix A.3). Thresholds are tuned on the
development set only. `RULES` has two ways to tune them: the paper's, and one that is more robust with a few hundred
documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from biorel.errors import ModelError
from biorel.scoring.pairs import ScoredPair, check, counts, distinct, probability_matrix

FALLBACK = 0.5
# above the highest score, so that a threshold can reject even a probability of 1
CEILING = 1.01

Ints = npt.NDArray[np.int64]


def decide(probabilities: Sequence[float], thresholds: Sequence[float]) -> int | None:
    """The index of the predicted relation, or None for NULL.

    If several probabilities are equally high, the first is taken. A probability equal to its threshold is accepted.

    Args:
        probabilities: [R], without NULL.
        thresholds: [R], in the same order.
    """
    best = max(range(len(probabilities)), key=probabilities.__getitem__)
    return best if float(probabilities[best]) >= thresholds[best] else None


def in_label_order(thresholds: Mapping[str, float], labels: Sequence[str]) -> tuple[float, ...]:
    """[R] thresholds as `decide` takes them.

    Raises:
        ModelError: a label has no threshold.
    """
    missing = [label for label in labels if label not in thresholds]
    if missing:
        raise ModelError(f"no threshold for {', '.join(missing)}", "thresholds.json does not match labels.json")
    return tuple(thresholds[label] for label in labels)


def tune(scored: Sequence[ScoredPair], labels: Sequence[str], filtered: bool = True) -> dict[str, float]:
    """The threshold of each relation that maximises micro F1 over these pairs.

    A threshold lies midway between two adjacent scores of its relation, so that equal scores are accepted or rejected
    together. The lowest score has the lower neighbour 0, and the highest score the upper neighbour `CEILING`. Of
    equally good cuts, the one with the fewest predictions is taken. A relation without gold facts, or that is never
    the most probable one, gets `FALLBACK`.

    The arg-max does not depend on the thresholds, so numerator and denominator of
    micro F1 = 2 sum_r TP_r / (sum_r predicted_r + gold) have a separate term for each relation. In each step, all
    relations take the cut with the highest 2 TP_r - F predicted_r, where F is the current F1 (Dinkelbach 1967). When
    no cut changes any more, no other set of cuts is better.

    Args:
        scored: pairs of the development set, in any order.
        labels: [R].
        filtered: leave hypernym pairs out, as in `metrics.evaluate`.
    """
    guesses = _guesses(scored, labels, filtered)
    cuts: dict[str, _Cuts] = {}
    fixed_predictions = 0
    for number, label in enumerate(labels):
        mine = guesses.relations == number
        if guesses.gold[label] and mine.any():
            cuts[label] = _cuts(guesses.scores[mine], guesses.correct[mine])
        else:
            fixed_predictions += int((guesses.scores[mine] >= FALLBACK).sum())
    chosen = _ascend(list(cuts.values()), sum(guesses.gold.values()) + fixed_predictions)
    tuned = {label: cut.threshold(place) for (label, cut), place in zip(cuts.items(), chosen, strict=True)}
    return {label: tuned.get(label, FALLBACK) for label in labels}


def half_of_best(scored: Sequence[ScoredPair], labels: Sequence[str], filtered: bool = True) -> dict[str, float]:
    """One threshold for all relations: half of the highest micro F1 that one threshold reaches over these pairs.

    With calibrated probabilities, no threshold has a higher expected F1 (Lipton, Elkan and Naryanaswamy 2014,
    theorem 1). With a few hundred documents, the position of the maximum of F1 is largely due to chance, above all for
    rare relations, but its height is not. The result is `FALLBACK` if no prediction is correct.

    Args:
        scored, labels, filtered: as in `tune`.
    """
    guesses = _guesses(scored, labels, filtered)
    cuts = _cuts(guesses.scores, guesses.correct)
    f1 = 2 * cuts.true_positives / np.maximum(1, cuts.predicted + sum(guesses.gold.values()))
    best = float(f1.max())
    return dict.fromkeys(labels, best / 2 or FALLBACK)


ThresholdRule = Callable[[Sequence[ScoredPair], Sequence[str]], dict[str, float]]
RULES: dict[str, ThresholdRule] = {
    "shared": half_of_best,
    "own": tune,
}


@dataclass(frozen=True)
class _Guesses:
    """[P] the most probable relation of each scored pair, its score, and whether it is correct.

    `gold` counts the facts of each label, including those of pairs that were not scored.
    """

    relations: Ints
    scores: npt.NDArray[np.float64]
    correct: npt.NDArray[np.bool_]
    gold: Mapping[str, int]


def _guesses(scored: Sequence[ScoredPair], labels: Sequence[str], filtered: bool) -> _Guesses:
    kept = [one for one in distinct(scored) if counts(one, filtered)]
    check(kept, labels)
    usable = [one for one in kept if one.is_scored]
    matrix = probability_matrix(usable, len(labels))
    best = matrix.argmax(axis=1)  # [P]
    guesses = zip(best.tolist(), usable, strict=True)
    return _Guesses(
        best,
        matrix.max(axis=1, initial=0.0),
        np.array([labels[guess] in one.pair.relations for guess, one in guesses], dtype=bool),
        {label: sum(label in one.pair.relations for one in kept) for label in labels},
    )


@dataclass(frozen=True)
class _Cuts:
    """The possible thresholds of one relation: C cuts, one above all scores, then one below each score.

    Attributes:
        scores: [C - 1] distinct scores, highest first.
        true_positives, predicted: [C] counts of the pairs above each cut.
    """

    scores: npt.NDArray[np.float64]
    true_positives: Ints
    predicted: Ints

    def threshold(self, cut: int) -> float:
        """A threshold that accepts the scores above the cut and rejects those below."""
        above = float(self.scores[cut - 1]) if cut else CEILING
        below = float(self.scores[cut]) if cut < len(self.scores) else 0.0
        middle = (above + below) / 2
        # adjacent floating-point numbers have no middle; the upper one still separates them
        return middle if middle > below else above


def _cuts(score: npt.NDArray[np.float64], correct: npt.NDArray[np.bool_]) -> _Cuts:
    """The cuts between the scores of these guesses."""
    negated, group = np.unique(-score, return_inverse=True)  # the highest score comes first
    return _Cuts(-negated, _running(np.bincount(group[correct], minlength=len(negated))), _running(np.bincount(group)))


def _running(group_counts: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(group_counts)]).astype(np.int64)


def _ascend(cuts: Sequence[_Cuts], fixed: int) -> list[int]:
    """The index of the best cut of each relation.

    Args:
        cuts: one for each relation.
        fixed: the part of the denominator that does not depend on thresholds.
    """
    chosen = [0] * len(cuts)
    while True:
        # integers only: F1 = above / below is exact, and so are ties
        above = 2 * sum(int(cut.true_positives[place]) for cut, place in zip(cuts, chosen, strict=True))
        below = max(1, fixed + sum(int(cut.predicted[place]) for cut, place in zip(cuts, chosen, strict=True)))
        better = [int((2 * below * cut.true_positives - above * cut.predicted).argmax()) for cut in cuts]
        if better == chosen:
            return chosen
        chosen = better
