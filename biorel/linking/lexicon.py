"""Makes the lexicon of a linker: one Parquet table of the names of concepts from training mentions, MeSH and CTD."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from biorel.counts import Counts, Reason
from biorel.knowledge.ctd_vocabularies import Term
from biorel.knowledge.mesh import Mesh
from biorel.records import Annotated, Name
from biorel.tables import read_table, write_table

LEXICON = "lexicon.parquet"
TRAINING, MESH, CTD, SYNONYM = "training", "mesh", "ctd", "synonym"
# the earlier source wins if two give one name to different concepts
SOURCES = (TRAINING, MESH, CTD, SYNONYM)
JOINT = "|"
# the branches of the MeSH tree whose concepts are of a type: D holds drugs and chemicals, C diseases, F03 mental
# disorders. Measured on CDR: the other branches of F, and G, cost more than they find
BRANCHES: Mapping[str, re.Pattern[str]] = {
    "Chemical": re.compile(r"D"),
    "Disease": re.compile(r"C|F03"),
}
_SUPPLEMENTARY = "MESH:C"
_MESH_NAMES = {"Chemical": Reason.MESH_CHEMICAL_NAMES, "Disease": Reason.MESH_DISEASE_NAMES}
_MESH_SYNONYMS = {"Chemical": Reason.MESH_CHEMICAL_SYNONYMS, "Disease": Reason.MESH_DISEASE_SYNONYMS}
_CTD_NAMES = {
    "Chemical": Reason.CTD_CHEMICAL_NAMES,
    "Disease": Reason.CTD_DISEASE_NAMES,
    "Gene": Reason.CTD_GENE_NAMES,
}
_CTD_SYNONYMS = {
    "Chemical": Reason.CTD_CHEMICAL_SYNONYMS,
    "Disease": Reason.CTD_DISEASE_SYNONYMS,
    "Gene": Reason.CTD_GENE_SYNONYMS,
}


def from_documents(
    documents: Iterable[Annotated], counts: Counts, to_primary: Callable[[str], str] = str
) -> Iterator[Name]:
    """Yield the names that annotated texts use, with their counts.

    A span of several concepts gives one name, which stands for all of these concepts.

    Args:
        counts: counts the mentions used, and the mentions left out because they have no concept id.
        to_primary: maps an id to the id that the vocabularies use for its concept.
    """
    uses: Counter[tuple[str, str, str]] = Counter()
    for annotated in documents:
        spans: dict[tuple[int, int, str, str], list[str]] = {}
        for mention in annotated.mentions:
            if mention.entity_id is None:
                counts.add(Reason.TRAINING_MENTION_WITHOUT_ID)
                continue
            counts.add(Reason.TRAINING_MENTIONS)
            spans.setdefault((mention.start, mention.end, mention.type, mention.text), []).append(
                to_primary(mention.entity_id)
            )
        uses.update((type_, text, JOINT.join(dict.fromkeys(ids))) for (_, _, type_, text), ids in spans.items())
    for (type_, text, ids), count in sorted(uses.items()):
        yield Name(text, type_, ids, TRAINING, count)


def from_mesh(mesh: Mesh, counts: Counts, synonyms: Iterable[tuple[str, str]] = ()) -> Iterator[Name]:
    """Yield the names of the chemicals and diseases of MeSH.

    A supplementary concept is not in the tree. It has the types of the descriptors that it is mapped to; if none of
    these is in this edition of MeSH, it is a chemical.

    Args:
        mesh: the tree and the preferred names.
        counts: counts the names used, and the concepts of other branches.
        synonyms: (id, term) pairs of the descriptor and supplementary files; they may include preferred names.
    """
    types = {id_: types_of(mesh, id_) for id_ in mesh.names}
    for id_, name in sorted(mesh.names.items()):
        if not types[id_]:
            counts.add(Reason.MESH_CONCEPT_OF_OTHER_BRANCH)
        for type_ in types[id_]:
            counts.add(_MESH_NAMES[type_])
            yield Name(name, type_, id_, MESH, 0)
    for id_, term in synonyms:
        for type_ in types.get(id_, ()):
            if term != mesh.names[id_]:
                counts.add(_MESH_SYNONYMS[type_])
                yield Name(term, type_, id_, SYNONYM, 0)


def types_of(mesh: Mesh, id_: str) -> tuple[str, ...]:
    """The entity types of a MeSH concept, from its own branches and those of the descriptors that it is mapped to."""
    places = [place for target in (id_, *mesh.mapped_to.get(id_, ())) for place in mesh.tree_numbers.get(target, ())]
    found = tuple(type_ for type_, branch in BRANCHES.items() if any(branch.match(place) for place in places))
    return ("Chemical",) if not places and id_.startswith(_SUPPLEMENTARY) else found


def from_ctd(terms: Iterable[Term], counts: Counts) -> Iterator[Name]:
    """Yield the names and synonyms of CTD's vocabularies."""
    for term in terms:
        counts.add(_CTD_NAMES[term.type])
        yield Name(term.name, term.type, term.id, CTD, 0)
        for synonym in term.synonyms:
            counts.add(_CTD_SYNONYMS[term.type])
            yield Name(synonym, term.type, term.id, SYNONYM, 0)


def write_lexicon(path: Path, names: Iterable[Name]) -> int:
    """Write the distinct names, sorted; returns their number."""
    distinct = sorted(set(names), key=lambda name: (name.type, name.entity_id, SOURCES.index(name.source), name.name))
    write_table(path, Name, distinct)
    return len(distinct)


def read_lexicon(path: Path) -> tuple[Name, ...]:
    """Read the names of a lexicon.

    Raises:
        InputError: the file is missing or is not a lexicon.
    """
    return tuple(read_table(path, Name))
