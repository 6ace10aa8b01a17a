"""Read the examples of a dataset in the form that a model needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from biorel.counts import Counts, Reason
from biorel.dataset.candidates import UNLINKED_ID, link
from biorel.dataset.featurize import Featurizer
from biorel.dataset.labels import read_labels
from biorel.dataset.splits import SPLITS
from biorel.errors import InputError
from biorel.knowledge.inject import Injector
from biorel.records import Document, Example, Mention, Pair
from biorel.tables import read_by_document, read_table
from biorel.text.tokenizer import load_tokenizer


def read_examples(dataset: Path, split: str) -> list[Example]:
    """The examples of one split as the dataset holds them.

    Raises:
        InputError: the split is missing or empty.
    """
    examples = list(read_table(dataset / split / "examples.parquet", Example))
    if not examples:
        raise InputError(f"{dataset}: the {split} split is empty", "build the dataset with documents for it")
    return examples


def read_encoded_examples(featurizer: Featurizer, dataset: Path, split: str, counts: Counts) -> list[Example]:
    """The examples of one split in the vocabulary of a model, which may differ from that of the dataset.

    Raises:
        InputError: as `read_examples`, or the dataset is incomplete.
    """
    examples = read_examples(dataset, split)
    _, ner = read_labels(dataset)
    if ner == featurizer.ner and load_tokenizer(dataset).to_str() == featurizer.tokenizer.to_str():
        return examples
    counts.add(Reason.DOCUMENTS_ENCODED_AGAIN, count=len(examples))
    documents = {document.doc_id: document for document in read_table(_table(dataset, split, "documents"), Document)}
    mentions = read_by_document(_table(dataset, split, "mentions"), Mention)
    pairs = read_by_document(_table(dataset, split, "pairs"), Pair)
    encoded = []
    for example in examples:
        of_document = mentions.get(example.doc_id, [])
        linked = link(of_document, "merge" if UNLINKED_ID in example.entity_ids else "drop")
        encoded.append(
            featurizer.example(documents[example.doc_id], of_document, linked, pairs.get(example.doc_id, []), counts)
        )
    return encoded


def read_training_examples(
    featurizer: Featurizer, dataset: Path, *, resplit_dev: int, seed: int, counts: Counts
) -> tuple[list[Example], list[Example]]:
    """The training and dev examples of a dataset.

    Args:
        resplit_dev: join both splits and draw this many dev documents from them; 0 keeps the splits.
        seed: the seed of the draw.

    Raises:
        InputError: as `read_encoded_examples`, or there are too few documents to draw from.
    """
    training, dev = (read_encoded_examples(featurizer, dataset, split, counts) for split in SPLITS[:2])
    if not resplit_dev:
        return training, dev
    joined = sorted([*training, *dev], key=lambda example: example.doc_id)
    if resplit_dev >= len(joined):
        raise InputError(f"--resplit-dev {resplit_dev}: train and dev together have {len(joined)} documents")
    order = np.random.default_rng(seed).permutation(len(joined)).tolist()
    return [joined[index] for index in order[resplit_dev:]], [joined[index] for index in order[:resplit_dev]]


def inject_knowledge(
    examples: Sequence[Example], dataset: Path, splits: Sequence[str], injector: Injector | None
) -> list[Example]:
    """The examples with their knowledge branches.

    Args:
        splits: the splits of the dataset that hold the texts of the examples.
        injector: None for no branches.

    Raises:
        InputError: the dataset is incomplete.
    """
    if injector is None:
        return list(examples)
    texts = {
        document.doc_id: document.text
        for split in splits
        for document in read_table(_table(dataset, split, "documents"), Document)
    }
    return [injector(example, texts[example.doc_id]) for example in examples]


def example_pairs(example: Example, labels: Sequence[str]) -> Iterator[Pair]:
    """The pairs of an example as records.

    Args:
        labels: of the relations, without NULL.
    """
    for head, tail, relations, excluded in zip(
        example.pair_heads, example.pair_tails, example.pair_labels, example.pair_exclusions, strict=True
    ):
        yield Pair(
            doc_id=example.doc_id,
            head_id=example.entity_ids[head],
            head_type=example.entity_types[head],
            tail_id=example.entity_ids[tail],
            tail_type=example.entity_types[tail],
            relations=tuple(labels[relation - 1] for relation in relations),
            excluded_because=excluded,
        )


def _table(dataset: Path, split: str, name: str) -> Path:
    return dataset / split / f"{name}.parquet"
