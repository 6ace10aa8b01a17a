"""The vote over abstracts against what a knowledge base holds: mean reciprocal rank of known answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import Any

from biorel.qa.decoding import Decoding, ranked
from biorel.qa.metrics import Judged, concept
from biorel.scoring.vote import VOTES, reciprocal_rank, vote

MOST_SPANS = 10


def reciprocal_ranks(
    judged: Iterable[Judged], decoding: Decoding, known: Mapping[str, frozenset[str]], asks: str
) -> dict[str, Any]:
    """By vote, the mean reciprocal rank of the first known answer to each concept asked about.

    The questions about one concept and relation are one question over all their abstracts; concepts of which nothing is
    known are left out. No threshold has a part in it: the ten best spans of each abstract are ranked.

    What is known is what `known` holds and nothing else: a right answer that is not in it counts as wrong. Whoever
    trained on some of the articles that it was curated from leaves out what only those say (`read_known_pairs`).

    Args:
        known: from a concept to the right answers.
        asks: the side that the questions ask for.

    Returns:
        `all`, and `several` for the concepts that are asked about in two abstracts or more: the number of `questions`,
        and under each vote's name the mean, None where there is no question.
    """
    found: dict[tuple[str, str], list[tuple[str, str, float]]] = {}
    documents: dict[tuple[str, str], int] = {}
    for one in judged:
        question = one.question
        if question.asks != asks or question.entity_id not in known:
            continue
        key = (question.relation, question.entity_id)
        documents[key] = documents.get(key, 0) + 1
        rows = found.setdefault(key, [])
        for span in ranked(one.candidates, decoding, MOST_SPANS):
            id_ = concept(span, one.mentions, question.answer_type)
            if id_:
                rows.append((id_, question.doc_id, span.score))
    told: dict[str, Any] = {}
    for name, least in (("all", 1), ("several", 2)):
        keys = [key for key in found if documents[key] >= least]
        told[name] = {"questions": len(keys)}
        for rule in VOTES:
            ranks = [reciprocal_rank([one.answer for one in vote(found[key], rule)], known[key[1]]) for key in keys]
            told[name][rule] = fmean(ranks) if ranks else None
    return told
