"""build-graph: MeSH, CTD and the user's own lines -> triples.parquet and triples.spo."""

from __future__ import annotations

from collections.abc import Iterator

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.build_graph import BuildGraph
from biorel.counts import Counts, Reason
from biorel.dataset.splits import read_ids
from biorel.errors import InputError
from biorel.formats.spo import LINES, TABLE, read_spo, write_spo
from biorel.knowledge.collect import curated_triples, joined, mesh_triples
from biorel.knowledge.ctd_facts import read_facts, read_names
from biorel.knowledge.mesh import Mesh, read_mesh
from biorel.progress import SILENT, Progress
from biorel.records import Curation, Triple
from biorel.tables import write_table
from biorel.training.graph import articles_of

_HELD_OUT = ("dev", "test")


def run(config: BuildGraph, progress: Progress = SILENT) -> Artifact:
    """Build the graph folder `config.out`.

    Raises:
        BiorelError: an input cannot be read or is not in its format, or there is no triple in any of them.
    """
    with artifacts.folder("build-graph", config.options(), config.out, force=config.force) as output:
        counts = output.counts
        triples = list(joined(_triples(config, counts), counts))
        if not triples:
            raise InputError("no triple in any of the inputs", "the counts by reason say why: are concepts named?")
        write_table(output.path / TABLE, Triple, triples)
        write_spo(output.path / LINES, triples)
        articles = {pmid for triple in triples for pmid in triple.pmids}
        counts.add(Reason.TRIPLES_WRITTEN, count=len(triples))
        output.notes["articles"] = len(articles)
        told = "; ".join(f"{reason}: {count:,}" for reason, count in counts.by_reason.items())
    return Artifact(label="graph", path=config.out, summary=[f"{told}; articles: {len(articles):,}"])


def _triples(config: BuildGraph, counts: Counts) -> Iterator[Triple]:
    excluded = set(read_ids(config.exclude_pmids, counts))
    if config.exclude_dataset is not None:
        excluded |= {article for split in _HELD_OUT for article in articles_of(config.exclude_dataset, split)}
    mesh = read_mesh(config.mesh, counts) if config.mesh else Mesh({}, {}, {})
    yield from mesh_triples(mesh, counts)
    names: dict[str, str] = {}
    for path in config.ctd:
        if path.is_dir():
            names |= read_names(path, counts)
    names |= mesh.names

    def curations() -> Iterator[Curation]:
        for path in config.ctd:
            yield from read_facts(path, counts)

    yield from curated_triples(curations(), names, excluded, counts)
    for path in config.spo:
        yield from read_spo(path, counts)
