"""Scoring of linking: the set of concept ids of each document, by entity type.

It does not matter where a concept is mentioned, nor how often; what has no id counts neither way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from biorel.records import Mention
from biorel.scoring.mentions import by_type


@dataclass
class ConceptScore:
    """Numbers of (document, type, id) facts over the documents that were added."""

    right: Counter[str]
    predicted: Counter[str]
    gold: Counter[str]

    @classmethod
    def empty(cls) -> ConceptScore:
        return cls(Counter(), Counter(), Counter())

    def add(self, gold: Iterable[Mention], predicted: Iterable[Mention]) -> None:
        """Count one document."""
        true, said = concepts(gold), concepts(predicted)
        self.gold.update(type_ for type_, _ in true)
        self.predicted.update(type_ for type_, _ in said)
        self.right.update(type_ for type_, _ in true & said)

    def to_json(self) -> dict[str, Any]:
        """Measures by type in alphabetical order, `overall` last."""
        return by_type(self.right, self.predicted, self.gold)


def concepts(mentions: Iterable[Mention]) -> set[tuple[str, str]]:
    """The (type, id) pairs of a document's linked mentions."""
    return {(mention.type, mention.entity_id) for mention in mentions if mention.entity_id}
