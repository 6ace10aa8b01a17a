"""Scoring of concept linking: the set of concept ids of each document, by entity type.

Positions and numbers of mentions do not matter. Mentions without an id are ignored.
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
    """Numbers of (document, type, id) facts, by type, over the documents added so far."""

    correct: Counter[str]
    predicted: Counter[str]
    gold: Counter[str]

    @classmethod
    def empty(cls) -> ConceptScore:
        return cls(Counter(), Counter(), Counter())

    def add(self, gold: Iterable[Mention], predicted: Iterable[Mention]) -> None:
        """Count one document."""
        expected, answered = concepts(gold), concepts(predicted)
        self.gold.update(type_ for type_, _ in expected)
        self.predicted.update(type_ for type_, _ in answered)
        self.correct.update(type_ for type_, _ in expected & answered)

    def to_json(self) -> dict[str, Any]:
        """Measures by type in alphabetical order, then `overall`."""
        return by_type(self.correct, self.predicted, self.gold)


def concepts(mentions: Iterable[Mention]) -> set[tuple[str, str]]:
    """The (type, id) pairs of a document's linked mentions."""
    return {(mention.type, mention.entity_id) for mention in mentions if mention.entity_id}
