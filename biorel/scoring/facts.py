"""Scoring of relation files: extracted facts against the facts of a gold file, ids against ids."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from typing import Any

from biorel.errors import InputError
from biorel.scoring.metrics import Prf

# document, head, relation, tail; the relation is empty in both files where only the pairs are compared
FactRow = tuple[str, str, str, str]


@dataclass(frozen=True)
class FactScore:
    """What became of each predicted row: len(predicted) = prf.predicted + repeated + malformed.

    Attributes:
        prf: over distinct, well-formed facts, so recall is never above 1.
        repeated: rows that say again what another row says.
        malformed: rows with an empty document, head or tail; they are set aside, neither right nor wrong.
    """

    prf: Prf
    repeated: int
    malformed: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self.prf) | {"repeated": self.repeated, "malformed": self.malformed}


def score_facts(gold: AbstractSet[FactRow], predicted: Iterable[FactRow]) -> FactScore:
    """Compare by equality of all four parts.

    Raises:
        InputError: a gold fact has an empty id; nothing could ever match it.
    """
    for fact in sorted(gold):
        if _malformed(fact):
            raise InputError(f"gold fact {fact}: an id is empty", "correct that line of the gold file")
    rows = list(predicted)
    sound = [row for row in rows if not _malformed(row)]
    facts = set(sound)
    return FactScore(
        Prf.of(len(facts & gold), len(facts), len(gold)),
        repeated=len(sound) - len(facts),
        malformed=len(rows) - len(sound),
    )


def _malformed(fact: FactRow) -> bool:
    doc_id, head, _, tail = fact
    return not (doc_id.strip() and head.strip() and tail.strip())
