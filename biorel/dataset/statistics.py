"""Counts of a dataset, as in the paper's Tables 1, 5 and 6. A pair with two relations counts as two positives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from biorel.dataset.relation_schema import RelationSchema, pair_type_name
from biorel.records import Exclusion, Pair


class SplitStatistics:
    """Running counts of one split."""

    def __init__(self, schema: RelationSchema) -> None:
        self._counts: Counter[str] = Counter()
        self._relations: Counter[str] = Counter(dict.fromkeys(schema.labels, 0))
        self._pair_types: dict[str, Counter[str]] = {
            pair_type_name(*types): Counter(documents=0, positives=0, negatives=0) for types in schema.pair_types
        }

    def add(self, pairs: Iterable[Pair], *, too_long: bool) -> None:
        """Count the pairs of one document."""
        self._counts["too_long" if too_long else "documents"] += 1
        names = set()
        for pair in pairs:
            positives = len(pair.relations)
            reason = pair.excluded_because
            if not reason:
                name = pair_type_name(pair.head_type, pair.tail_type)
                names.add(name)
                self._counts["positives"] += positives
                self._counts["negatives"] += not positives
                self._relations.update(pair.relations)
                self._pair_types[name].update(positives=positives, negatives=int(not positives))
            elif reason == Exclusion.TOO_LONG:
                self._counts["too_long_positives"] += positives
                self._counts["too_long_negatives"] += not positives
            else:
                self._counts[reason] += max(1, positives) if reason == Exclusion.NOT_MENTIONED else 1
        for name in names:
            self._pair_types[name]["documents"] += 1

    def to_json(self) -> dict[str, Any]:
        """The counts in the structure of stats.json."""
        counts = self._counts
        return {
            "documents": counts["documents"],
            "positives": counts["positives"],
            "negatives": counts["negatives"],
            "dropped_hypernym": counts[Exclusion.HYPERNYM],
            "only_dropped_relations": counts[Exclusion.UNMAPPED],
            "held_back_inferred": counts[Exclusion.INFERRED],
            "facts_not_mentioned": counts[Exclusion.NOT_MENTIONED],
            "too_long": counts["too_long"],
            "too_long_positives": counts["too_long_positives"],
            "too_long_negatives": counts["too_long_negatives"],
            "by_relation": dict(self._relations),
            "by_pair_type": {name: dict(types) for name, types in self._pair_types.items()},
        }


def total(splits: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The sum over splits, including nested counts."""
    summed: dict[str, Any] = {}
    for split in splits:
        for name, value in split.items():
            if isinstance(value, dict):
                summed[name] = total([summed.get(name, {}), value])
            else:
                summed[name] = summed.get(name, 0) + value
    return summed
