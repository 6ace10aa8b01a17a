"""From a reader's probabilities to ranked answers, and the choices of that, which are made on dev.

"Improving decoding can yield more gains than repeated hyperparameter tuning" (DGCNN): how two sides make a score, how
long an answer may be, and from which score on a question is answered at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from biorel.errors import ModelError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

RULES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "product": lambda first, second: first * second,
    "mean": lambda first, second: (first + second) / 2,
    "geometric": lambda first, second: np.sqrt(first * second),
}


@dataclass(frozen=True)
class Candidates:
    """N spans of one question in one document, as a reader found them.

    Attributes:
        starts, ends: [N] characters, half-open.
        lengths: [N] in tokens.
        anchor, partner: [N] the probabilities of its two sides.
    """

    starts: Ints
    ends: Ints
    lengths: Ints
    anchor: Floats
    partner: Floats

    @classmethod
    def none(cls) -> Candidates:
        empty = np.zeros(0, dtype=np.int64)
        return cls(empty, empty, empty, np.zeros(0), np.zeros(0))


@dataclass(frozen=True)
class Decoding:
    """How answers are read out.

    Attributes:
        rule: a key of `RULES`.
        longest: tokens of an answer.
        threshold: the best answer is told from this score on; below it there is none.
        entity_threshold: every answer from this score on counts as an entity in the relation.
    """

    rule: str = "product"
    longest: int = 16
    threshold: float = 0.5
    entity_threshold: float = 0.5

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, content: Any) -> Decoding:
        """The decoding of a model folder.

        Raises:
            ModelError: not what `to_json` wrote.
        """
        try:
            decoding = cls(
                str(content["rule"]),
                int(content["longest"]),
                float(content["threshold"]),
                float(content["entity_threshold"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"decoding.json: not a decoding ({error})", "train the reader again") from error
        if decoding.rule not in RULES or decoding.longest < 1:
            raise ModelError(f"decoding.json: no rule {decoding.rule!r} with {decoding.longest} tokens")
        return decoding


@dataclass(frozen=True, slots=True)
class Ranked:
    """An answer span with its score."""

    start: int
    end: int
    score: float


def scores(candidates: Candidates, decoding: Decoding) -> Floats:
    """[N] scores; 0 for spans over the length limit."""
    told = RULES[decoding.rule](candidates.anchor, candidates.partner)
    return np.where(candidates.lengths <= decoding.longest, told, 0.0)


def best(candidates: Candidates, decoding: Decoding) -> Ranked | None:
    """The best answer, whatever its score; None where there is no span at all."""
    if not len(candidates.starts):
        return None
    told = scores(candidates, decoding)
    place = int(told.argmax())
    return Ranked(int(candidates.starts[place]), int(candidates.ends[place]), float(told[place]))


def ranked(candidates: Candidates, decoding: Decoding, most: int, least: float = 0.0) -> list[Ranked]:
    """The best answers that do not overlap each other, by descending score, from the score `least` on."""
    told = scores(candidates, decoding)
    chosen: list[Ranked] = []
    for place in np.argsort(-told, kind="stable").tolist():
        start, end, score = int(candidates.starts[place]), int(candidates.ends[place]), float(told[place])
        if len(chosen) == most or score < least or score <= 0:
            break
        if all(end <= one.start or one.end <= start for one in chosen):
            chosen.append(Ranked(start, end, score))
    return chosen


def merged(parts: Sequence[Candidates], members: int = 1) -> Candidates:
    """Several findings as one: of a span found several times the mean of its probabilities, over `members`.

    With one member (windows of a long text, which overlap) the finding with the best product stands. With several the
    probabilities are averaged; a span that a member did not find counts as 0 there.
    """
    found: dict[tuple[int, int], list[tuple[int, float, float]]] = {}
    for part in parts:
        rows = zip(part.starts, part.ends, part.lengths, part.anchor, part.partner, strict=True)
        for start, end, length, anchor, partner in rows:
            found.setdefault((int(start), int(end)), []).append((int(length), float(anchor), float(partner)))
    if not found:
        return Candidates.none()
    spans = list(found)
    told = [found[span] for span in spans]
    if members == 1:
        sides = [max(rows, key=lambda row: row[1] * row[2])[1:] for rows in told]
    else:
        sides = [(sum(row[1] for row in rows) / members, sum(row[2] for row in rows) / members) for rows in told]
    return Candidates(
        np.array([start for start, _ in spans], dtype=np.int64),
        np.array([end for _, end in spans], dtype=np.int64),
        np.array([rows[0][0] for rows in told], dtype=np.int64),
        np.array([anchor for anchor, _ in sides], dtype=np.float64),
        np.array([partner for _, partner in sides], dtype=np.float64),
    )
