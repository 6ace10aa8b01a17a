"""The inputs of build-dataset as one stream, whatever their kind: documents with their split and their curations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from biorel.config import BuildDataset
from biorel.dataset.splits import hash_split
from biorel.ledger import Ledger
from biorel.records import Annotated, Curation
from biorel.sources.chemprot import locate, read_chemprot
from biorel.sources.documents import read_documents


@dataclass(frozen=True)
class Sources:
    """The inputs, ready to be streamed any number of times: (split, document with its curations)."""

    config: BuildDataset
    splits: dict[str, str]
    excluded: frozenset[str]
    curations: dict[str, list[Curation]]

    def stream(self, ledger: Ledger) -> Iterator[tuple[str, Annotated]]:
        for split, annotated in _read(self.config, self.splits, ledger):
            doc_id = annotated.document.doc_id
            if doc_id in self.excluded and split == "train":
                ledger.add("document kept out of training by --exclude-pmids", doc_id)
                continue
            if self.config.ctd is not None:
                annotated = replace(annotated, curations=tuple(self.curations.get(doc_id, ())))
            yield split, annotated


def _read(config: BuildDataset, splits: dict[str, str], ledger: Ledger) -> Iterator[tuple[str, Annotated]]:
    """All documents with the split that each belongs to; the books are kept in `ledger`."""
    if config.train or config.dev or config.test:
        for split, paths in (("train", config.train), ("dev", config.dev), ("test", config.test)):
            for annotated in read_documents(paths, ledger) if paths else ():
                yield split, annotated
        return
    for annotated in _unsplit(config, ledger):
        doc_id = annotated.document.doc_id
        if config.splits is None:
            yield hash_split(doc_id, config.dev_share, config.test_share), annotated
        elif doc_id in splits:
            yield splits[doc_id], annotated
        else:
            ledger.add("document in no split of --splits left out", doc_id)


def _unsplit(config: BuildDataset, ledger: Ledger) -> Iterator[Annotated]:
    if config.documents:
        yield from read_documents(config.documents, ledger)
    if config.chemprot is not None:
        abstracts, entities, relations = locate(config.chemprot)
        yield from read_chemprot(abstracts, entities, relations, ledger)
