"""Reads MeSH: tree numbers and names of descriptors, and the descriptors that supplementary concepts are mapped to.

Ids are `MESH:D...` and `MESH:C...`. Tree numbers decide which concept is an ancestor of which, so values that are not
tree numbers are left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.formats.identifiers import concept_id
from biorel.knowledge.mesh_files import read_entries

_TREE_NUMBER = re.compile(r"[A-Z]\d{2}(\.\d{3})*", re.ASCII)


@dataclass(frozen=True)
class Mesh:
    """MeSH by concept id.

    Attributes:
        tree_numbers: the positions of a descriptor in the tree; descriptors without any are missing.
        names: preferred names of descriptors and supplementary concepts.
        mapped_to: the descriptors that a supplementary concept is mapped to; they act as its parents.
    """

    tree_numbers: dict[str, tuple[str, ...]]
    names: dict[str, str]
    mapped_to: dict[str, tuple[str, ...]]


def read_mesh(paths: Sequence[Path], counts: Counts) -> Mesh:
    """Read one or several MeSH files. If several files describe a concept, their data are joined.

    Args:
        paths: tree TSV, mtrees, descriptor XML or supplementary XML in any order (see `mesh_files.read_entries`).
        counts: counts values that are not tree numbers, and mtrees names without a descriptor.

    Raises:
        InputError: a file cannot be read or is of another kind, or an mtrees file is given without a file that
            has the ids for the names.
    """
    numbers: dict[str, dict[str, None]] = {}
    names: dict[str, str] = {}
    mapped_to: dict[str, dict[str, None]] = {}
    by_name: list[tuple[str, str]] = []
    for path in paths:
        for entry in read_entries(path, counts):
            places = [place for place in entry.tree_numbers if _is_tree_number(place, counts, path)]
            if not entry.id:
                by_name += [(entry.name, place) for place in places]
                continue
            if entry.name:
                names.setdefault(entry.id, entry.name)
            if places:
                numbers.setdefault(entry.id, {}).update(dict.fromkeys(places))
            if entry.mapped_to:
                mapped_to.setdefault(entry.id, {}).update(dict.fromkeys(entry.mapped_to))
    files = ", ".join(map(str, paths)) or "no file"
    if not names and not by_name:
        raise InputError(f"{files}: there is no MeSH concept", "check whether this is a MeSH file")
    if not names:
        raise InputError(
            f"{files}: mtrees files have names but no ids",
            "give also descYYYY.xml or the tree as TSV, which have the ids",
        )
    ids = {name: id_ for id_, name in names.items()}
    for name, place in by_name:
        if name in ids:
            numbers.setdefault(ids[name], {})[place] = None
        else:
            counts.add(Reason.TREE_NAME_WITHOUT_DESCRIPTOR, f"{name};{place}")
    return Mesh(
        {id_: tuple(places) for id_, places in numbers.items()},
        names,
        {id_: tuple(targets) for id_, targets in mapped_to.items()},
    )


def resolve(mesh: Mesh, id_: str) -> str | None:
    """The id of a concept in this MeSH, or None if this MeSH has no such concept.

    Some tools pad ids to nine digits. MeSH also has genuine ids of nine digits, so an id is looked up unchanged first,
    and then in the form with six digits.
    """
    exact = concept_id(id_, "") or ""
    letter, digits = exact[: len("MESH:D")], exact[len("MESH:D") :]
    short = f"{letter}{digits.lstrip('0').zfill(6)}"
    for candidate in (exact, short):
        if candidate in mesh.names or candidate in mesh.tree_numbers or candidate in mesh.mapped_to:
            return candidate
    return None


def _is_tree_number(place: str, counts: Counts, path: Path) -> bool:
    if _TREE_NUMBER.fullmatch(place):
        return True
    counts.add(Reason.TREE_NUMBER_MALFORMED, f"{path} {place!r}")
    return False
