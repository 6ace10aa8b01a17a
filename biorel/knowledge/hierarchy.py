"""Makes a graph of MeSH, with `is_a` edges from each concept to its parents and without circles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

IS_A = "is_a"
Edge = tuple[str, str]
"""(child, parent)"""


def parent_edges(tree_numbers: Mapping[str, Sequence[str]], mapped_to: Mapping[str, Sequence[str]]) -> Iterator[Edge]:
    """Yield the distinct (child, parent) edges, in the order of the file.

    Args:
        tree_numbers: the tree numbers of each descriptor; the parent of `C04.588.322` is the descriptor at `C04.588`.
        mapped_to: the descriptors that each supplementary concept is mapped to; they are its parents.
    """
    holders: dict[str, dict[str, None]] = {}
    for id_, places in tree_numbers.items():
        for place in places:
            holders.setdefault(place, {})[id_] = None
    for id_, places in tree_numbers.items():
        above = (place.rpartition(".")[0] for place in places)
        for parent in dict.fromkeys(parent for place in above for parent in holders.get(place, ())):
            yield id_, parent
    for id_, parents in mapped_to.items():
        for parent in dict.fromkeys(parents):
            yield id_, parent


def without_circles(edges: Iterable[Edge]) -> tuple[list[Edge], list[Edge]]:
    """Split the edges into those of a graph without circles, and those that would close a circle.

    MeSH can place a concept below another at one position of the tree, and above the same concept at a second position.
    The edges are followed in their order, and an edge that closes a circle is left out.
    """
    above: dict[str, list[str]] = {}
    for below, parent in edges:
        above.setdefault(below, []).append(parent)
    kept: list[Edge] = []
    closing: list[Edge] = []
    done: set[str] = set()
    for start in list(above):
        if start in done:
            continue
        path = {start: None}
        stack = [(start, iter(above[start]))]
        while stack:
            below, parents = stack[-1]
            above_it = next(parents, None)
            if above_it is None:
                stack.pop()
                del path[below]
                done.add(below)
            elif above_it in path:
                closing.append((below, above_it))
            else:
                kept.append((below, above_it))
                if above_it not in done:
                    path[above_it] = None
                    stack.append((above_it, iter(above.get(above_it, ()))))
    return kept, closing
