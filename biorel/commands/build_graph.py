"""build-graph: MeSH, CTD and the user's triples -> a graph folder with triples.parquet and triples.spo."""

from __future__ import annotations

from collections.abc import Iterator

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.build_graph import BuildGraph
from biorel.counts import Counts, Reason
from biorel.dataset.splits import articles_of, read_ids
from biorel.errors import InputError
from biorel.formats.spo import LINES, TABLE, read_spo, write_spo
from biorel.knowledge.ctd import read_facts
from biorel.knowledge.mesh import Mesh, read_mesh
from biorel.knowledge.triples import articles_by_fact, curated_triples, mesh_triples, unique_triples
from biorel.progress import SILENT, Progress
from biorel.records import Curation, Triple
from biorel.tables import write_table

_HELD_OUT = ("dev", "test")


def run(config: BuildGraph, progress: Progress = SILENT) -> Artifact:
    """Build the graph folder `config.out`.

    Raises:
        BiorelError: an input cannot be read or has the wrong format, or no input contains a triple.
    """
    with artifacts.folder("build-graph", config.options(), config.out, force=config.force) as output:
        counts = output.counts
        triples = list(unique_triples(_triples(config, counts), counts))
        if not triples:
            raise InputError("no input contains a triple", "check that the inputs contain the names of their concepts")
        write_table(output.path / TABLE, Triple, triples)
        write_spo(output.path / LINES, triples)
        articles = {pmid for triple in triples for pmid in triple.pmids}
        counts.add(Reason.TRIPLES_WRITTEN, count=len(triples))
        output.notes["articles"] = len(articles)
        summary = "; ".join(f"{reason}: {count:,}" for reason, count in counts.by_reason.items())
    return Artifact(label="graph", path=config.out, summary=[f"{summary}; articles: {len(articles):,}"])


def _triples(config: BuildGraph, counts: Counts) -> Iterator[Triple]:
    excluded = set(read_ids(config.exclude_pmids, counts))
    if config.exclude_dataset is not None:
        excluded |= {article for split in _HELD_OUT for article in articles_of(config.exclude_dataset, split)}
    mesh = read_mesh(config.mesh, counts) if config.mesh else Mesh({}, {}, {})
    yield from mesh_triples(mesh, counts)
    names: dict[str, str] = {}

    def curations() -> Iterator[Curation]:
        for path in config.ctd:
            named: dict[str, str] = {}
            yield from read_facts(path, counts, named)
            names.update(named)

    # all curations are read before the names are used
    articles = articles_by_fact(curations(), excluded, counts)
    yield from curated_triples(articles, names | mesh.names, counts)
    for path in config.spo:
        yield from read_spo(path, counts)
