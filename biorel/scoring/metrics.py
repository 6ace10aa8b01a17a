"""Precision, recall and F1 of relations: micro, macro, by relation and by pair type (Tables 2 and 7).

Facts are counted: (document, head, tail, relation). See `pairs` for which pairs count. An undefined measure is None,
never NaN or 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from biorel.scoring.pairs import ScoredPair, check, counts, distinct, home_types
from biorel.scoring.thresholds import decide, in_label_order

Choice = Callable[[ScoredPair], str | None]


@dataclass(frozen=True, slots=True)
class Prf:
    """Precision, recall and F1 as fractions in 0..1, with the numbers of facts behind them.

    Precision is None if nothing was predicted. Recall and F1 are None if there is no gold fact. With gold facts but no
    prediction, F1 is 0.
    """

    precision: float | None
    recall: float | None
    f1: float | None
    true_positives: int
    predicted: int
    gold: int

    @classmethod
    def of(cls, true_positives: int, predicted: int, gold: int) -> Prf:
        """From counts of facts."""
        return cls(
            true_positives / predicted if predicted else None,
            true_positives / gold if gold else None,
            2 * true_positives / (predicted + gold) if gold else None,
            true_positives,
            predicted,
            gold,
        )


@dataclass(frozen=True)
class Metrics:
    """All measures of one set of pairs.

    Attributes:
        micro: the measures over all facts.
        macro: the means over relations; see the function `macro`.
        by_relation: the measures of every label, including labels without gold facts.
        by_pair_type: micro measures of each pair type that occurs.
        home_types: the pair type of each relation that has gold facts.
        ignored: number of predictions for excluded pairs, by the reason of exclusion.
        not_scored: number of gold facts of pairs that were not scored, by reason; recall counts them.
    """

    micro: Prf
    macro: Prf
    by_relation: Mapping[str, Prf]
    by_pair_type: Mapping[str, Prf]
    home_types: Mapping[str, str]
    ignored: Mapping[str, int]
    not_scored: Mapping[str, int]

    @property
    def f1_of_means(self) -> float | None:
        """The harmonic mean of macro precision and macro recall.

        The macro F1 in Table 7 of the BRAN paper (31.7) is computed this way. The mean of its relations' F1 scores
        would be 29.6.
        """
        precision, recall = self.macro.precision, self.macro.recall
        if precision is None or recall is None:
            return None
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0

    def to_json(self) -> dict[str, Any]:
        """Nested dicts of numbers and None, in label order, valid in strict JSON."""
        return {
            "micro": asdict(self.micro),
            "macro": asdict(self.macro) | {"f1_of_means": self.f1_of_means},
            "by_relation": {label: asdict(prf) for label, prf in self.by_relation.items()},
            "by_pair_type": {pair_type: asdict(prf) for pair_type, prf in self.by_pair_type.items()},
            "home_types": dict(self.home_types),
            "ignored": dict(self.ignored),
            "not_scored": dict(self.not_scored),
        }


def evaluate(
    scored: Iterable[ScoredPair],
    labels: Sequence[str],
    thresholds: Mapping[str, float],
    filtered: bool = True,
) -> Metrics:
    """The measures of a model that applies these thresholds.

    Args:
        scored: all pairs of a split, including those that are excluded or were not scored.
        labels: [R] relations, without NULL.
        thresholds: the threshold of each relation, as tuned on the development set.
        filtered: True leaves hypernym pairs out; False counts a prediction for them as wrong.

    Raises:
        InputError: a pair occurs twice with different contents.
        ModelError: labels, thresholds and pairs do not match.
    """
    limits = in_label_order(thresholds, labels)

    def choose(one: ScoredPair) -> str | None:
        chosen = decide(one.probabilities, limits)
        return None if chosen is None else labels[chosen]

    return measure(scored, labels, choose, filtered)


def predict_every_pair(scored: Iterable[ScoredPair], labels: Sequence[str], filtered: bool = True) -> Metrics:
    """The baseline that ignores the text and predicts the most frequent relation of its pair type for each pair.

    Frequencies are counted in the gold facts that are evaluated, which favours the baseline. A pair type without gold
    facts gets the most frequent relation overall. Ties are resolved by label order.
    """
    pairs = distinct(scored)
    support = Counter((one.pair_type, relation) for one in pairs for relation in one.pair.relations)
    overall = Counter(relation for one in pairs for relation in one.pair.relations)

    def most_frequent(pair_type: str) -> str:
        return max(labels, key=lambda label: (support[pair_type, label], overall[label]))

    frequent = {pair_type: most_frequent(pair_type) for pair_type in {one.pair_type for one in pairs}}
    return measure(pairs, labels, lambda one: frequent[one.pair_type], filtered)


def measure(scored: Iterable[ScoredPair], labels: Sequence[str], choose: Choice, filtered: bool) -> Metrics:
    """Compare the choice for each scored pair with the gold facts of all pairs.

    Args:
        scored, labels, filtered: as in `evaluate`.
        choose: returns a label, or None for NULL; it is only called for pairs that were scored.
    """
    pairs = distinct(scored)
    check(pairs, labels)
    tally = _Tally(Counter(), Counter(), Counter())
    ignored: Counter[str] = Counter()
    not_scored: Counter[str] = Counter()
    for one in pairs:
        choice = choose(one) if one.is_scored else None
        if not counts(one, filtered):
            ignored[one.pair.excluded_because] += choice is not None
            continue
        facts = set(one.pair.relations)
        tally.gold.update((one.pair_type, relation) for relation in facts)
        if not one.is_scored:
            not_scored[one.pair.excluded_because] += len(facts)
        if choice is not None:
            tally.predicted[one.pair_type, choice] += 1
            tally.correct[one.pair_type, choice] += choice in facts

    by_relation = {label: tally.total(relation=label) for label in labels}
    pair_types = sorted({one.pair_type for one in pairs if counts(one, filtered)})
    return Metrics(
        micro=tally.total(),
        macro=macro(by_relation.values()),
        by_relation=by_relation,
        by_pair_type={pair_type: tally.total(pair_type=pair_type) for pair_type in pair_types},
        home_types=home_types(pairs),
        ignored=dict(sorted(ignored.items())),
        not_scored=dict(sorted(not_scored.items())),
    )


@dataclass(frozen=True)
class _Tally:
    """Numbers of facts by (pair type, relation): correctly predicted, predicted, gold."""

    correct: Counter[tuple[str, str]]
    predicted: Counter[tuple[str, str]]
    gold: Counter[tuple[str, str]]

    def total(self, *, pair_type: str = "", relation: str = "") -> Prf:
        """The measures of one pair type or one relation; empty means all."""
        correct, predicted, gold = (
            sum(
                count
                for key, count in table.items()
                if (not pair_type or key[0] == pair_type) and (not relation or key[1] == relation)
            )
            for table in (self.correct, self.predicted, self.gold)
        )
        return Prf.of(correct, predicted, gold)


def macro(relations: Iterable[Prf]) -> Prf:
    """The mean of each measure over the relations that have gold facts and for which it is defined.

    The counts are sums over those relations.
    """
    supported = [prf for prf in relations if prf.gold]
    return Prf(
        _mean(prf.precision for prf in supported),
        _mean(prf.recall for prf in supported),
        _mean(prf.f1 for prf in supported),
        sum(prf.true_positives for prf in supported),
        sum(prf.predicted for prf in supported),
        sum(prf.gold for prf in supported),
    )


def _mean(values: Iterable[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return sum(defined) / len(defined) if defined else None
