"""Scoring of answers: how good the best span is, whether there is one at all, and which entities are told.

exact_match, macro_f1   the best span of every answerable question, as MaP's table has it (no answer is no option)
located                 F1 with 'no answer' as an option: token F1 earned, over questions answered and answerable
answered                F1 of the decision that there is an answer
with_no_answer          exact match and token F1 over all questions; 'no answer' is right for the others (SQuAD 2)
entities                micro F1 of the facts (question, concept): comparable to relation extraction
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from biorel.qa.decoding import Candidates, Decoding, Ranked, best, ranked
from biorel.records import Mention, Question
from biorel.scoring.metrics import Prf

MOST_ENTITIES = 20


@dataclass(frozen=True)
class Judged:
    """A question with what a reader found for it, and what its document holds."""

    question: Question
    text: str
    mentions: tuple[Mention, ...]
    candidates: Candidates


def measure(judged: Sequence[Judged], decoding: Decoding) -> dict[str, Any]:
    """All measures, as plain values; a measure that is not defined is None."""
    tops = [best(one.candidates, decoding) for one in judged]
    said = [top is not None and top.score >= decoding.threshold for top in tops]
    answerable = [bool(one.question.answers) for one in judged]
    exact = [_right(exact_match, one, top) for one, top in zip(judged, tops, strict=True)]
    overlap = [_right(token_f1, one, top) for one, top in zip(judged, tops, strict=True)]
    both = [one and other for one, other in zip(said, answerable, strict=True)]
    return {
        "questions": len(judged),
        "answerable": sum(answerable),
        "exact_match": _mean(value for value, able in zip(exact, answerable, strict=True) if able),
        "macro_f1": _mean(value for value, able in zip(overlap, answerable, strict=True) if able),
        "located": located(overlap, said, answerable),
        "answered": asdict(Prf.of(sum(both), sum(said), sum(answerable))),
        "with_no_answer": {
            name: _mean(
                (value if told else 0.0) if able else float(not told)
                for value, told, able in zip(values, said, answerable, strict=True)
            )
            for name, values in (("exact_match", exact), ("f1", overlap))
        },
        "entities": entity_measures(judged, decoding),
    }


def located(overlap: Sequence[float], said: Sequence[bool], answerable: Sequence[bool]) -> dict[str, float | None]:
    """Precision, recall and F1 of the token F1 earned: over questions answered, and over those answerable."""
    earned = sum(value for value, told, able in zip(overlap, said, answerable, strict=True) if told and able)
    told, able = sum(said), sum(answerable)
    return {
        "precision": earned / told if told else None,
        "recall": earned / able if able else None,
        "f1": 2 * earned / (told + able) if able else None,
    }


def entity_measures(judged: Iterable[Judged], decoding: Decoding) -> dict[str, Any]:
    """Micro measures of the facts (question, concept), overall and by the side that is asked for.

    Questions that name no concept have no part in it, nor has what is held back.
    """
    counts: dict[str, list[int]] = {}
    for one in judged:
        if not one.question.entity_id:
            continue
        gold = {span.entity_id for span in one.question.answers} - {""}
        told = entities(one, decoding) - set(one.question.ignored)
        for name in ("overall", one.question.asks):
            row = counts.setdefault(name, [0, 0, 0])
            for place, number in enumerate((len(gold & told), len(told), len(gold))):
                row[place] += number
    return {name: asdict(Prf.of(*counts[name])) for name in sorted(counts, key=lambda name: (name != "overall", name))}


def entities(one: Judged, decoding: Decoding) -> set[str]:
    """The concepts of all spans from the entity threshold on."""
    spans = ranked(one.candidates, decoding, MOST_ENTITIES, decoding.entity_threshold)
    found = (concept(span, one.mentions, one.question.answer_type) for span in spans)
    return {id_ for id_ in found if id_}


def concept(span: Ranked, mentions: Iterable[Mention], type_: str) -> str:
    """The concept of the mention that overlaps the span most, of the asked type where one is asked; else empty."""
    overlapping = [
        (min(span.end, mention.end) - max(span.start, mention.start), -abs(mention.end - mention.start), mention)
        for mention in mentions
        if mention.entity_id and type_ in ("", mention.type)
    ]
    shared = [row for row in overlapping if row[0] > 0]
    if not shared:
        return ""
    return max(shared, key=lambda row: (row[0], row[1], -row[2].start, row[2].entity_id))[2].entity_id or ""


def _right(rule: Any, one: Judged, top: Ranked | None) -> float:
    """How right the best span is, 0 where there is none or nothing to find."""
    if top is None or not one.question.answers:
        return 0.0
    return float(rule(one.text[top.start : top.end], [span.text for span in one.question.answers]))


def _mean(values: Iterable[float]) -> float | None:
    known = list(values)
    return fmean(known) if known else None


def overlaps(judged: Sequence[Judged], decoding: Decoding) -> Mapping[str, list[float]]:
    """By question: the score of the best span and the token F1 that it would earn; what a threshold is tuned on."""
    tops = [best(one.candidates, decoding) for one in judged]
    return {
        "score": [0.0 if top is None else top.score for top in tops],
        "overlap": [_right(token_f1, one, top) for one, top in zip(judged, tops, strict=True)],
    }


# MERGED from scoring.overlap: How right an answer's text is: exact match and token F1, as SQuAD scores them (Rajpurkar et al. 2016).
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(text: str) -> str:
    """Lower case, without ASCII punctuation, articles and surplus blanks."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(answer: str, right: Iterable[str]) -> float:
    """1 where the answer is one of the right ones, else 0."""
    return float(normalised(answer) in {normalised(one) for one in right})


def token_f1(answer: str, right: Iterable[str]) -> float:
    """The best F1 of the answer's words against those of a right one."""
    return max((_f1(normalised(answer).split(), normalised(one).split()) for one in right), default=0.0)


def _f1(said: list[str], true: list[str]) -> float:
    if not said or not true:
        return float(said == true)
    common = (Counter(said) & Counter(true)).total()
    return 2 * common / (len(said) + len(true))
