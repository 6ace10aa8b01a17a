"""Deriving a relation schema from a CTD release (BRAN section 3.3.1).

CTD has over a hundred interaction types. The paper collapses them: each type is rolled up to its highest parent. Where
`affects_X` is more frequent than `increases_X` and `decreases_X` together, the latter two are merged into it;
otherwise `affects_X` is dropped. Labels with a small share of the positives are dropped as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from biorel.dataset.relation_schema import RelationSchema, RelationType, pair_type_name
from biorel.records import Curation

DIRECTIONS = ("increases", "decreases")
_CTD_PAIR_TYPES = (("Chemical", "Disease"), ("Gene", "Disease"), ("Chemical", "Gene"))


def roll_up(action: str, parents: Mapping[str, str]) -> str:
    """Replace an interaction (`increases^phosphorylation`) by its highest parent (`increases^metabolic_processing`).

    Args:
        action: degree and type joined by `^`; anything else is returned unchanged.
        parents: maps each type to its parent type, which is empty at the top. In a cycle, the last type before a
            repeated one counts as the highest.
    """
    degree, caret, type_ = action.partition("^")
    if not caret:
        return action
    visited = {type_}
    while (parent := parents.get(type_, "")) and parent not in visited:
        visited.add(parent)
        type_ = parent
    return f"{degree}^{type_}"


def uncollapsed_schema(curations: Iterable[Curation], parents: Mapping[str, str]) -> RelationSchema:
    """A schema with one relation for each rolled-up term that the curations assert between CTD's pair types."""
    terms: dict[tuple[str, str], dict[str, None]] = {types: {} for types in _CTD_PAIR_TYPES}
    for curation in curations:
        types = (curation.head_type, curation.tail_type)
        if curation.asserted and types in terms:
            terms[types][roll_up(curation.relation, parents)] = None
    return RelationSchema(
        "everything",
        tuple(
            RelationType(name=f"{head} {term} {tail}", head=head, tail=tail, sources=(term,))
            for (head, tail), of_types in terms.items()
            for term in of_types
        ),
    )


def derive(counts: Mapping[tuple[str, str, str], int], min_share: float) -> RelationSchema:
    """The schema that results from the paper's rules.

    Args:
        counts: number of positives by (head type, rolled-up source term, tail type).
        min_share: a label with a smaller share of all positives is dropped.
    """
    merged: dict[tuple[str, str, str], list[str]] = {}
    for (head, source, tail), _ in sorted(counts.items()):
        name = _collapsed(head, source, tail, counts)
        if name is not None:
            merged.setdefault((head, tail, name), []).append(source)
    support: Counter[tuple[str, str, str]] = Counter(
        {key: sum(counts[key[0], source, key[1]] for source in sources) for key, sources in merged.items()}
    )
    threshold = min_share * sum(support.values())
    kept = sorted((key for key, count in support.items() if count >= threshold), key=lambda key: (-support[key], key))
    return RelationSchema(
        "derived",
        tuple(
            RelationType(
                name=f"{pair_type_name(head, tail)}:{name}",
                head=head,
                tail=tail,
                sources=tuple(merged[head, tail, name]),
            )
            for head, tail, name in kept
        ),
    )


def _collapsed(head: str, source: str, tail: str, counts: Mapping[tuple[str, str, str], int]) -> str | None:
    """The name of the label for a source term; None if the term is dropped."""
    degree, caret, type_ = source.partition("^")
    if not caret:
        return source
    undirected = counts.get((head, f"affects^{type_}", tail), 0)
    directed = sum(counts.get((head, f"{direction}^{type_}", tail), 0) for direction in DIRECTIONS)
    if undirected > directed:
        return f"affects_{type_}"
    return f"{degree}_{type_}" if degree in DIRECTIONS else None
