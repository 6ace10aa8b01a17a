"""Labels candidate pairs by curations: strong distant supervision (BRAN sections 2.4 and 3.3.1).

A candidate pair that a curator recorded for the same article is a positive, with all relations that were recorded.
The other candidates of the article are NULL. A pair that was curated only with relations that the schema drops is
excluded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from biorel.dataset.relation_schema import RelationSchema
from biorel.records import Curation, Exclusion, Pair


def supervise(
    pairs: Sequence[Pair], curations: Iterable[Curation], schema: RelationSchema, *, exclude_inferred: bool
) -> tuple[Pair, ...]:
    """The candidates with their labels, in the same order.

    Args:
        pairs: candidates of one document.
        curations: the curations of the same document, with rolled-up relations. Head and tail may be in the
            opposite order of the schema's if their types make that clear.
        schema: the labels.
        exclude_inferred: exclude pairs that the source inferred but nobody curated, instead of making them negatives.
    """
    by_ids = {(pair.head_id, pair.tail_id): pair for pair in pairs}
    symmetric = {relation.name for relation in schema.relations if relation.symmetric}
    relations: dict[tuple[str, str], set[str]] = {}
    unmapped: set[tuple[str, str]] = set()
    inferred: set[tuple[str, str]] = set()
    for curation in curations:
        key = _pair_of(curation, by_ids)
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
            # the reverse is a candidate too if a directed relation connects the same types
            reverse = by_ids.get(key[::-1])
            if (
                label in symmetric
                and reverse
                and (reverse.head_type, reverse.tail_type) == (pair.head_type, pair.tail_type)
            ):
                relations.setdefault(key[::-1], set()).add(label)
    excluded = dict.fromkeys(inferred, Exclusion.INFERRED) if exclude_inferred else {}
    excluded |= dict.fromkeys(unmapped, Exclusion.UNMAPPED)
    return tuple(
        replace(pair, relations=tuple(label for label in schema.labels if label in relations[key]))
        if key in relations
        else replace(pair, excluded_because=excluded[key])
        if key in excluded
        else pair
        for key, pair in by_ids.items()
    )


def _pair_of(curation: Curation, by_ids: Mapping[tuple[str, str], Pair]) -> tuple[str, str] | None:
    """The ids of the candidate pair that a curation is about; None if there is no such candidate."""
    for key in ((curation.head_id, curation.tail_id), (curation.tail_id, curation.head_id)):
        if key in by_ids:
            pair = by_ids[key]
            stated_types = {curation.head_type, curation.tail_type} - {""}
            if stated_types <= {pair.head_type, pair.tail_type}:
                return key
    return None


def not_mentioned(
    doc_id: str, pairs: Iterable[Pair], curations: Iterable[Curation], schema: RelationSchema
) -> tuple[Pair, ...]:
    """The facts of a gold corpus that are not candidate pairs. They are kept so that recall still counts them.

    Types that the relation rows do not state are taken from the first relation that uses the source term. A symmetric
    fact is the same in either order, so its two ids are sorted.
    """
    offered = {frozenset((pair.head_id, pair.tail_id)) for pair in pairs}
    missing: dict[tuple[str, str], Pair] = {}
    for curation in curations:
        ids = (curation.head_id, curation.tail_id)
        stated_types = {curation.head_type, curation.tail_type} - {""}
        meant = (relation for relation in schema.relations if curation.relation in relation.sources)
        match = next((relation for relation in meant if stated_types <= {relation.head, relation.tail}), None)
        if match is not None and curation.asserted and frozenset(ids) not in offered:
            unsorted = match.symmetric and match.head == match.tail and ids[0] > ids[1]
            if unsorted or curation.head_type not in ("", match.head):
                ids = ids[::-1]
            before = missing.get(ids)
            labels = dict.fromkeys((*(before.relations if before else ()), match.name))
            missing[ids] = Pair(doc_id, ids[0], match.head, ids[1], match.tail, tuple(labels), Exclusion.NOT_MENTIONED)
    return tuple(missing.values())
