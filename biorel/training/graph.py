"""A knowledge graph for training and evaluation: read, checked against the evaluated articles, and injected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from tokenizers import Tokenizer

from biorel.dataset.pair_features import FEATURES
from biorel.errors import InputError, ModelError
from biorel.formats.spo import SOURCE, TABLE
from biorel.knowledge.graph import Graph
from biorel.knowledge.inject import ENTITIES, NAMES, Injector
from biorel.knowledge.support import Support
from biorel.model.bran import BranConfig
from biorel.records import Document, Pair, Triple
from biorel.scoring.pairs import ScoredPair
from biorel.tables import read_table


def read_triples(folder: Path) -> list[Triple]:
    """The triples of a graph folder.

    Raises:
        InputError: it is none.
    """
    if not (folder / TABLE).is_file():
        raise InputError(f"{folder}: no graph ({TABLE} is missing)", "make one with biorel build-graph")
    return list(read_table(folder / TABLE, Triple))


def articles_of(dataset: Path, split: str) -> set[str]:
    """The ids of all documents of a split, those over the token cap among them.

    Raises:
        InputError: the dataset is incomplete.
    """
    found = {document.doc_id for document in read_table(dataset / split / "documents.parquet", Document)}
    return found | {pair.doc_id for pair in read_table(dataset / split / "pairs.parquet", Pair)}


def refuse_shared(triples: list[Triple], graph: Path, articles: set[str], split: str) -> None:
    """Stop where knowledge was curated from the very articles that are evaluated on.

    Raises:
        InputError: naming how many articles are shared, and the first of them.
    """
    shared = sorted({pmid for triple in triples for pmid in triple.pmids} & articles)
    if shared:
        raise InputError(
            f"{graph} holds what was curated from {len(shared)} of the {len(articles)} {split} articles "
            f"({', '.join(shared[:3])}{', ...' if len(shared) > 3 else ''})",
            "build the graph without them: biorel build-graph --exclude-dataset DATASET or --exclude-pmids FILE",
        )


def build_injector(graph: Path, triples: Sequence[Triple], config: BranConfig, tokenizer: Tokenizer) -> Injector:
    """The injector that adds knowledge branches and graph features to examples, as a network was trained to read them.

    Args:
        graph: the folder of the triples, for the message.

    Raises:
        ModelError: the network was trained without a graph.
    """
    if not config.uses_graph:
        raise ModelError(
            f"--graph {graph}: the model was trained without a graph", "leave out --graph, or train with --graph"
        )
    # triage and tagging get no gold entities: branches attached to these would reveal them
    attach_by = ENTITIES if config.task == "relations" else NAMES
    support = Support(triples) if config.graph_features else None
    return Injector(Graph(triples), tokenizer, config.branches, attach_by, support, len(FEATURES))


def describe_graph(graph: Path, triples: Sequence[Triple], branches: int) -> str:
    """The graph as an entry of an evaluation protocol, where no evaluated article is among those of the graph.

    Args:
        branches: the largest number of branches of an entity.
    """
    articles = {pmid for triple in triples for pmid in triple.pmids}
    own = sum(triple.source == SOURCE for triple in triples)
    return (
        f"EXTERNAL, {graph}: {len(triples):,} triples, at most {branches} for each entity, curated from "
        f"{len(articles):,} articles, none of which is evaluated; {own:,} triples are the user's own, from unknown "
        "articles. Entity types are predicted without the graph"
    )


def score_by_graph(scored: Iterable[ScoredPair], support: Support, articles: int) -> list[ScoredPair]:
    """The pairs as a baseline scores them that reads no text.

    A pair has probability 1 where at least this many other articles of the graph state it, and 0 otherwise.
    """
    return [
        replace(
            one,
            probabilities=tuple(
                float(support.articles(one.pair.head_id, one.pair.tail_id, one.pair.doc_id) >= articles)
                for _ in one.probabilities
            ),
        )
        for one in scored
    ]
