"""Inject a knowledge graph into examples, describe the graph in a report, and use it as a baseline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from tokenizers import Tokenizer

from biorel.dataset.pair_features import FEATURES
from biorel.errors import ModelError
from biorel.formats.spo import SOURCE
from biorel.knowledge.graph import Graph
from biorel.knowledge.inject import ENTITIES, NAMES, Injector
from biorel.knowledge.support import Support
from biorel.model.bran import BranConfig
from biorel.records import Triple
from biorel.scoring.pairs import ScoredPair


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
    """Describe the graph for an evaluation protocol. No article of the graph may be among the evaluated ones.

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
    """Score the pairs by the graph alone, as a baseline that reads no text.

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
