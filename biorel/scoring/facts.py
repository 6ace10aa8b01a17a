"""Scoring of extracted facts against gold facts, by comparing ids."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from typing import Any

from biorel.errors import InputError
from biorel.scoring.metrics import Prf

# document, head, relation, tail; if only pairs are compared, the relation is empty in both files
FactRow = tuple[str, str, str, str]


@dataclass(frozen=True)
class FactScore:
    """The result for a list of predicted rows. The number of rows is prf.predicted + repeated + malformed.

    Attributes:
        prf: the measures over distinct, well-formed facts, so that recall is at most 1.
        repeated: rows equal to an earlier row.
        malformed: rows with an empty document, head or tail; they are ignored.
    """

    prf: Prf
    repeated: int
    malformed: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self.prf) | {"repeated": self.repeated, "malformed": self.malformed}


def score_facts(gold: AbstractSet[FactRow], predicted: Iterable[FactRow]) -> FactScore:
    """Compare facts by equality of all four parts.

    Raises:
        InputError: a gold fact has an empty id, so that no prediction could match it.
    """
    for fact in sorted(gold):
        if _malformed(fact):
            raise InputError(f"gold fact {fact}: an id is empty", "correct that line of the gold file")
    rows = list(predicted)
    well_formed = [row for row in rows if not _malformed(row)]
    facts = set(well_formed)
    return FactScore(
        Prf.of(len(facts & gold), len(facts), len(gold)),
        repeated=len(well_formed) - len(facts),
        malformed=len(rows) - len(well_formed),
    )


def _malformed(fact: FactRow) -> bool:
    doc_id, head, _, tail = fact
    return not (doc_id.strip() and head.strip() and tail.strip())
