"""Makes and reads the triples of a knowledge graph, each with the articles that it was curated from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.formats.spo import SOURCE, TABLE
from biorel.knowledge.hierarchy import IS_A, parent_edges, without_circles
from biorel.knowledge.mesh import Mesh
from biorel.records import Curation, Triple
from biorel.tables import read_table

MESH, CTD = "mesh", "ctd"

Fact = tuple[str, str, str]
"""(head id, relation, tail id)"""


def mesh_triples(mesh: Mesh, counts: Counts) -> Iterator[Triple]:
    """Yield MeSH's `is_a` triples; counts the edges that are left out: without a name, or closing a circle."""
    kept, closing = without_circles(parent_edges(mesh.tree_numbers, mesh.mapped_to))
    for below, above in closing:
        counts.add(Reason.TRIPLE_CIRCULAR, f"{below} is_a {above}")
    for below, above in kept:
        if below in mesh.names and above in mesh.names:
            counts.add(Reason.MESH_TRIPLES)
            yield Triple(mesh.names[below], IS_A, mesh.names[above], below, above, MESH)
        else:
            counts.add(Reason.TRIPLE_CONCEPT_WITHOUT_NAME, f"{below} is_a {above}")


def articles_by_fact(
    curations: Iterable[Curation], excluded: Collection[str], counts: Counts
) -> dict[Fact, tuple[str, ...]]:
    """The articles of each (head id, relation, tail id), in the order of their numbers.

    Args:
        curations: curations of any articles; inferred curations are excluded.
        excluded: articles whose curations are excluded. A fact without other articles is left out.
        counts: counts excluded curations.
    """
    articles: dict[Fact, dict[str, None]] = {}
    for curation in curations:
        if not curation.asserted:
            counts.add(Reason.GRAPH_CURATION_INFERRED)
        elif curation.doc_id in excluded:
            counts.add(Reason.GRAPH_CURATION_OF_EXCLUDED_ARTICLE)
        elif curation.head_id == curation.tail_id:
            counts.add(Reason.GRAPH_CURATION_REFLEXIVE, f"{curation.doc_id} {curation.head_id}")
        else:
            fact = (curation.head_id, curation.relation, curation.tail_id)
            articles.setdefault(fact, {})[curation.doc_id] = None
    return {fact: tuple(sorted(pmids, key=lambda pmid: (len(pmid), pmid))) for fact, pmids in articles.items()}


def curated_triples(
    articles: Mapping[Fact, tuple[str, ...]], names: Mapping[str, str], counts: Counts
) -> Iterator[Triple]:
    """One triple for each fact, with its articles.

    Args:
        articles: the articles of each fact, as `articles_by_fact` returns them.
        names: the names of the concepts by id. A subject without a name gets its id as name. An object without a
            name has no text that could be read, so triples with this object are excluded.
        counts: counts triples.
    """
    for (head, relation, tail), pmids in articles.items():
        if tail not in names:
            counts.add(Reason.TRIPLE_OBJECT_WITHOUT_NAME, f"{head} {relation} {tail}")
            continue
        counts.add(Reason.CTD_TRIPLES)
        yield Triple(names.get(head, head), relation, names[tail], head, tail, CTD, pmids)


def unique_triples(triples: Iterable[Triple], counts: Counts) -> Iterator[Triple]:
    """Yield each triple once, without user triples that close a circle of `is_a`."""
    seen: set[tuple[str, str, str]] = set()
    unique = []
    for triple in triples:
        key = (triple.subject_id or triple.subject, triple.predicate, triple.object_id or triple.object)
        if key in seen:
            counts.add(Reason.TRIPLE_REPEATED, " ".join(key))
        else:
            seen.add(key)
            unique.append(triple)
    user_edges = [
        (triple.subject, triple.object) for triple in unique if triple.source == SOURCE and triple.predicate == IS_A
    ]
    closing = set(without_circles(user_edges)[1])
    for triple in unique:
        if triple.source == SOURCE and triple.predicate == IS_A and (triple.subject, triple.object) in closing:
            counts.add(Reason.TRIPLE_CIRCULAR, f"{triple.subject} is_a {triple.object}")
        else:
            yield triple


def read_triples(folder: Path) -> list[Triple]:
    """The triples of a graph folder.

    Raises:
        InputError: the folder is not a graph.
    """
    if not (folder / TABLE).is_file():
        raise InputError(f"{folder}: not a graph ({TABLE} is missing)", "make a graph with biorel build-graph")
    return list(read_table(folder / TABLE, Triple))


def refuse_shared(triples: Iterable[Triple], graph: Path, articles: Collection[str], split: str) -> None:
    """Refuse a graph that was curated from articles of the evaluation.

    Args:
        triples: the triples of the graph.
        graph: the folder of the graph, for the message.
        articles: the articles of the evaluation.
        split: the split of these articles, for the message.

    Raises:
        InputError: the graph and the evaluation share articles.
    """
    shared = sorted({pmid for triple in triples for pmid in triple.pmids} & set(articles))
    if shared:
        raise InputError(
            f"{graph} contains triples curated from {len(shared)} of the {len(articles)} {split} articles "
            f"({', '.join(shared[:3])}{', ...' if len(shared) > 3 else ''})",
            "build the graph without them: biorel build-graph --exclude-dataset DATASET or --exclude-pmids FILE",
        )
