"""What a command that reads a graph does with it: opened, held against a dataset's articles, told in words."""

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
from biorel.records import Document, Example, Pair, Triple
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


def injector_for(
    folder: Path | None, triples: Sequence[Triple], sizes: BranConfig, tokenizer: Tokenizer
) -> Injector | None:
    """What writes the triples into documents as a network was trained to read them; None without a graph.

    Raises:
        ModelError: the network was trained without knowledge.
    """
    if folder is None:
        return None
    if not sizes.uses_graph:
        raise ModelError(
            f"--graph {folder}: the model was trained without a graph", "leave --graph out, or train --graph"
        )
    # the other tasks are given no entities: branches on them would tell what is to be found
    by = ENTITIES if sizes.task == "relations" else NAMES
    support = Support(triples) if sizes.graph_features else None
    return Injector(Graph(triples), tokenizer, sizes.branches, by, support, len(FEATURES))


def with_knowledge(
    examples: Iterable[Example], dataset: Path, splits: Sequence[str], inject: Injector | None
) -> list[Example]:
    """The examples of a dataset's splits with their branches.

    Raises:
        InputError: the dataset is incomplete.
    """
    if inject is None:
        return list(examples)
    texts = {
        document.doc_id: document.text
        for split in splits
        for document in read_table(dataset / split / "documents.parquet", Document)
    }
    return [inject(example, texts[example.doc_id]) for example in examples]


def in_words(inject: Injector, folder: Path, triples: Sequence[Triple]) -> str:
    """The graph for the protocol of an evaluation that was not refused."""
    articles = {pmid for triple in triples for pmid in triple.pmids}
    own = sum(triple.source == SOURCE for triple in triples)
    return (
        f"EXTERNAL, {folder}: {len(triples):,} triples, at most {inject.limit} an entity, curated from "
        f"{len(articles):,} articles, none of them evaluated on; {own:,} are users' own, whose articles nobody "
        "knows. Entity types are read without it"
    )


def told_by_graph(scored: Iterable[ScoredPair], support: Support, articles: int) -> list[ScoredPair]:
    """The pairs as one would score them who reads no word: 1 where the graph has it from so many other articles."""
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
