"""Relations of many articles into triples, each with the articles that it comes from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from biorel.counts import Counts, Reason
from biorel.knowledge.hierarchy import IS_A, parent_edges, without_circles
from biorel.knowledge.mesh import Mesh
from biorel.records import Curation, Triple

MESH, CTD, SPO = "mesh", "ctd", "spo"


def mesh_triples(mesh: Mesh, counts: Counts) -> Iterator[Triple]:
    """`is_a` over the preferred terms; books concepts without a name, and edges that close a circle."""
    kept, closing = without_circles(parent_edges(mesh.tree_numbers, mesh.mapped_to))
    for below, above in closing:
        counts.add(Reason.TRIPLE_CIRCULAR, f"{below} is_a {above}")
    for below, above in kept:
        if below in mesh.names and above in mesh.names:
            counts.add(Reason.MESH_TRIPLES)
            yield Triple(mesh.names[below], IS_A, mesh.names[above], below, above, MESH)
        else:
            counts.add(Reason.TRIPLE_CONCEPT_WITHOUT_NAME, f"{below} is_a {above}")


def curated_triples(
    curations: Iterable[Curation], names: Mapping[str, str], excluded: Collection[str], counts: Counts
) -> Iterator[Triple]:
    """One triple for each head, relation and tail, with all its articles in the order of their numbers.

    Args:
        curations: of any articles; rows that a source only inferred are booked and left out.
        names: of the concepts by id. A subject without one is known by its id; an object without one says
            nothing that could be read, and its triples are booked and left out.
        excluded: articles whose curations are left out; a triple that no other article has is not there.
    """
    articles: dict[tuple[str, str, str], dict[str, None]] = {}
    for curation in curations:
        if not curation.asserted:
            counts.add(Reason.GRAPH_CURATION_INFERRED)
        elif curation.doc_id in excluded:
            counts.add(Reason.GRAPH_CURATION_OF_EXCLUDED_ARTICLE)
        elif curation.head_id == curation.tail_id:
            counts.add(Reason.GRAPH_CURATION_REFLEXIVE, f"{curation.doc_id} {curation.head_id}")
        else:
            key = (curation.head_id, curation.relation, curation.tail_id)
            articles.setdefault(key, {})[curation.doc_id] = None
    for (head, relation, tail), found in articles.items():
        if tail not in names:
            counts.add(Reason.TRIPLE_OBJECT_WITHOUT_NAME, f"{head} {relation} {tail}")
            continue
        counts.add(Reason.CTD_TRIPLES)
        pmids = tuple(sorted(found, key=lambda pmid: (len(pmid), pmid)))
        yield Triple(names.get(head, head), relation, names[tail], head, tail, CTD, pmids)


def joined(triples: Iterable[Triple], counts: Counts) -> Iterator[Triple]:
    """Each triple once; repeats are booked, circles of `is_a` among the users' own lines left out and booked."""
    seen: set[tuple[str, str, str]] = set()
    unique = []
    for triple in triples:
        key = (triple.subject_id or triple.subject, triple.predicate, triple.object_id or triple.object)
        if key in seen:
            counts.add(Reason.TRIPLE_REPEATED, " ".join(key))
        else:
            seen.add(key)
            unique.append(triple)
    own = [(triple.subject, triple.object) for triple in unique if triple.source == SPO and triple.predicate == IS_A]
    closing = set(without_circles(own)[1])
    for triple in unique:
        if triple.source == SPO and triple.predicate == IS_A and (triple.subject, triple.object) in closing:
            counts.add(Reason.TRIPLE_CIRCULAR, f"{triple.subject} is_a {triple.object}")
        else:
            yield triple
