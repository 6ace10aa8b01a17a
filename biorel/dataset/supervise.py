"""Labels from curations: strong distant supervision (BRAN sections 2.4 and 3.3.1).

A candidate pair that a curator recorded for this very article is a positive, with every relation
that was recorded; the other candidates of the article are NULL. A pair that was curated only with relations
that the schema drops is neither.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from biorel.dataset.relation_schema import RelationSchema
from biorel.records import INFERRED, NOT_MENTIONED, UNMAPPED, Curation, Pair


def supervise(
    pairs: Sequence[Pair], curations: Iterable[Curation], schema: RelationSchema, *, exclude_inferred: bool
) -> tuple[Pair, ...]:
    """The candidates with their labels, in the same order.

    Args:
        pairs: candidates of one document.
        curations: of the same document, their words already rolled up. A head and a tail in the
            other order than the schema's are understood where the types tell.
        schema: the labels.
        exclude_inferred: a pair that the source inferred, not curated, is held back from the negatives.
    """
    by_ids = {(pair.head_id, pair.tail_id): pair for pair in pairs}
    symmetric = {relation.name for relation in schema.relations if relation.symmetric}
    relations: dict[tuple[str, str], set[str]] = {}
    unmapped: set[tuple[str, str]] = set()
    inferred: set[tuple[str, str]] = set()
    for curation in curations:
        key = _key(curation, by_ids)
        if key is None:
            continue
        pair = by_ids[key]
        label = schema.label(curation.relation, pair.head_type, pair.tail_type)
        if not curation.asserted:
            inferred.add(key)
        elif label is None:
            unmapped.add(key)
        else:
            relations.setdefault(key, set()).add(label)
            turned = by_ids.get(key[::-1])  # a pair too where a directed relation joins the same types
            if (
                label in symmetric
                and turned
                and (turned.head_type, turned.tail_type) == (pair.head_type, pair.tail_type)
            ):
                relations.setdefault(key[::-1], set()).add(label)
    held_back = dict.fromkeys(inferred, INFERRED) if exclude_inferred else {}
    held_back |= dict.fromkeys(unmapped, UNMAPPED)
    return tuple(
        replace(pair, relations=tuple(label for label in schema.labels if label in relations[key]))
        if key in relations
        else replace(pair, excluded_because=held_back.get(key, ""))
        for key, pair in by_ids.items()
    )


def _key(curation: Curation, by_ids: dict[tuple[str, str], Pair]) -> tuple[str, str] | None:
    for key in ((curation.head_id, curation.tail_id), (curation.tail_id, curation.head_id)):
        if key in by_ids:
            pair = by_ids[key]
            known = {curation.head_type, curation.tail_type} - {""}
            if known <= {pair.head_type, pair.tail_type}:
                return key
    return None


def not_mentioned(
    doc_id: str, pairs: Iterable[Pair], curations: Iterable[Curation], schema: RelationSchema
) -> tuple[Pair, ...]:
    """The facts of a gold corpus that no candidate can answer, so that recall still divides by them.

    The types that the relation rows leave out are those of the first relation that uses the word. A symmetric
    fact is one fact in either order, its ids sorted.
    """
    found = {frozenset((pair.head_id, pair.tail_id)) for pair in pairs}
    missing: dict[tuple[str, str], Pair] = {}
    for curation in curations:
        ids = (curation.head_id, curation.tail_id)
        known = {curation.head_type, curation.tail_type} - {""}
        meant = (relation for relation in schema.relations if curation.relation in relation.sources)
        match = next((relation for relation in meant if known <= {relation.head, relation.tail}), None)
        if match is not None and curation.asserted and frozenset(ids) not in found:
            unsorted = match.symmetric and match.head == match.tail and ids[0] > ids[1]
            if unsorted or curation.head_type not in ("", match.head):
                ids = ids[::-1]
            before = missing.get(ids)
            labels = dict.fromkeys((*(before.relations if before else ()), match.name))
            missing[ids] = Pair(doc_id, ids[0], match.head, ids[1], match.tail, tuple(labels), NOT_MENTIONED)
    return tuple(missing.values())
