"""Turns the probabilities of span ends into ranked answer spans.

DGCNN: "Improving decoding can yield more gains than repeated hyperparameter tuning." The choices are how the
probabilities of the two ends make a score, how long an answer may be, and from which score a question is answered.
`decoding_tuning` makes these choices on dev.
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

SPAN_SCORES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "product": lambda anchor, partner: anchor * partner,
    "mean": lambda anchor, partner: (anchor + partner) / 2,
    "geometric": lambda anchor, partner: np.sqrt(anchor * partner),
}


@dataclass(frozen=True)
class SpanCandidates:
    """The N most probable spans of one question in one document.

    Attributes:
        starts, ends: [N] characters, half-open.
        lengths: [N] in tokens.
        anchor, partner: [N] probabilities of the two ends of the span.
    """

    starts: Ints
    ends: Ints
    lengths: Ints
    anchor: Floats
    partner: Floats

    @classmethod
    def empty(cls) -> SpanCandidates:
        nothing = np.zeros(0, dtype=np.int64)
        return cls(nothing, nothing, nothing, np.zeros(0), np.zeros(0))


@dataclass(frozen=True)
class Decoding:
    """How answers are chosen among the candidates.

    Attributes:
        rule: a key of `SPAN_SCORES`.
        longest: most tokens of an answer.
        threshold: a question is answered if its best span has at least this score.
        entity_threshold: every span with at least this score counts as an entity in the relation.
    """

    rule: str = "product"
    longest: int = 16
    threshold: float = 0.5
    entity_threshold: float = 0.5

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, content: Any) -> Decoding:
        """The decoding saved in a model folder.

        Raises:
            ModelError: the content is not from `to_json`.
        """
        try:
            decoding = cls(
                str(content["rule"]),
                int(content["longest"]),
                float(content["threshold"]),
                float(content["entity_threshold"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(
                f"decoding.json: a value is missing or wrong ({error})", "train the reader again"
            ) from error
        if decoding.rule not in SPAN_SCORES:
            raise ModelError(f"decoding.json: unknown rule {decoding.rule!r}", f"rules are {', '.join(SPAN_SCORES)}")
        if decoding.longest < 1:
            raise ModelError(f"decoding.json: longest is {decoding.longest}", "longest must be at least 1")
        return decoding


@dataclass(frozen=True, slots=True)
class RankedSpan:
    """A span in characters, half-open, with its score."""

    start: int
    end: int
    score: float


def span_scores(candidates: SpanCandidates, decoding: Decoding) -> Floats:
    """[N] scores; 0 for spans over the length limit."""
    scores = SPAN_SCORES[decoding.rule](candidates.anchor, candidates.partner)
    return np.where(candidates.lengths <= decoding.longest, scores, 0.0)


def best_span(candidates: SpanCandidates, decoding: Decoding) -> RankedSpan | None:
    """The span with the highest score, even below the threshold; None if there is no candidate."""
    if not len(candidates.starts):
        return None
    scores = span_scores(candidates, decoding)
    place = int(scores.argmax())
    return RankedSpan(int(candidates.starts[place]), int(candidates.ends[place]), float(scores[place]))


def rank_spans(candidates: SpanCandidates, decoding: Decoding, most: int, min_score: float = 0.0) -> list[RankedSpan]:
    """At most `most` spans that do not overlap, best first, each with a score over 0 and not below `min_score`."""
    scores = span_scores(candidates, decoding)
    chosen: list[RankedSpan] = []
    for place in np.argsort(-scores, kind="stable").tolist():
        start, end, score = int(candidates.starts[place]), int(candidates.ends[place]), float(scores[place])
        if len(chosen) == most or score < min_score or score <= 0:
            break
        if all(end <= span.start or span.end <= start for span in chosen):
            chosen.append(RankedSpan(start, end, score))
    return chosen


def merge_candidates(parts: Sequence[SpanCandidates], members: int = 1) -> SpanCandidates:
    """The candidates of several windows or of several readers, each span once.

    Args:
        members: number of readers. With one, the parts are overlapping windows, and the occurrence of a span with the
            highest product counts. With several, probabilities are averaged over all members, as 0 for a member
            that does not have the span.
    """
    by_span: dict[tuple[int, int], list[tuple[int, float, float]]] = {}
    for part in parts:
        rows = zip(part.starts, part.ends, part.lengths, part.anchor, part.partner, strict=True)
        for start, end, length, anchor, partner in rows:
            by_span.setdefault((int(start), int(end)), []).append((int(length), float(anchor), float(partner)))
    if not by_span:
        return SpanCandidates.empty()
    spans, occurrences = list(by_span), list(by_span.values())
    if members == 1:
        probabilities = [max(rows, key=lambda row: row[1] * row[2])[1:] for rows in occurrences]
    else:
        probabilities = [
            (sum(row[1] for row in rows) / members, sum(row[2] for row in rows) / members) for rows in occurrences
        ]
    return SpanCandidates(
        np.array([start for start, _ in spans], dtype=np.int64),
        np.array([end for _, end in spans], dtype=np.int64),
        np.array([rows[0][0] for rows in occurrences], dtype=np.int64),
        np.array([anchor for anchor, _ in probabilities], dtype=np.float64),
        np.array([partner for _, partner in probabilities], dtype=np.float64),
    )
