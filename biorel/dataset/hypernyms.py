"""The MeSH hypernym filter (BRAN section 3.1.1, after Gu et al. 2016).

Curators record the most specific concept. If an article says that tobacco causes lung cancer, the pair (tobacco,
cancer) is true but not recorded. Such a negative pair is excluded if the same head has a positive pair whose tail is
below this tail in the MeSH tree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from biorel.records import Exclusion, Pair

Ancestors = Callable[[str], frozenset[str]]


def strict_ancestors(tree_numbers: Mapping[str, Sequence[str]], mapped_to: Mapping[str, Sequence[str]]) -> Ancestors:
    """A function from a concept id to the ids strictly above it in the tree.

    Args:
        tree_numbers: the tree numbers of each descriptor; `C04.588` is above `C04.588.322`.
        mapped_to: the descriptors that each supplementary concept is mapped to; they count as its parents.
    """
    holders: dict[str, set[str]] = {}
    for id_, numbers in tree_numbers.items():
        for number in numbers:
            holders.setdefault(number, set()).add(id_)
    cache: dict[str, frozenset[str]] = {}

    def ancestors(id_: str) -> frozenset[str]:
        if id_ not in cache:
            above: set[str] = set()
            climbing = [id_]  # grows by the concepts mapped to, each once, so that a cycle of mappings ends
            for concept in climbing:
                for number in tree_numbers.get(concept, ()):
                    parts = number.split(".")
                    for length in range(1, len(parts)):
                        above |= holders.get(".".join(parts[:length]), set())
                climbing += [parent for parent in mapped_to.get(concept, ()) if parent not in climbing]
            above.update(climbing)
            # a concept at two positions of one branch is not its own ancestor
            cache[id_] = frozenset(above - {id_})
        return cache[id_]

    return ancestors


def filter_hypernyms(pairs: Sequence[Pair], ancestors: Ancestors, sides: str) -> tuple[Pair, ...]:
    """The pairs, with `excluded_because` set on each negative that a more specific positive explains.

    Args:
        pairs: labelled pairs of one document.
        ancestors: see `strict_ancestors`.
        sides: `off`; `tail`, as in the paper (same head, tail above); or `both` (the head may also be above).
    """
    if sides == "off":
        return tuple(pairs)
    above: set[tuple[str, str]] = set()
    for pair in pairs:
        if pair.relations:
            above |= {(pair.head_id, tail) for tail in ancestors(pair.tail_id)}
            if sides == "both":
                heads = {pair.head_id} | ancestors(pair.head_id)
                tails = {pair.tail_id} | ancestors(pair.tail_id)
                above |= {(head, tail) for head in heads for tail in tails}
    return tuple(
        replace(pair, excluded_because=Exclusion.HYPERNYM)
        if not pair.relations and not pair.excluded_because and (pair.head_id, pair.tail_id) in above
        else pair
        for pair in pairs
    )
