"""The inputs of build-dataset as one stream, whatever their kind: documents with their split and their curations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from biorel.config.build_dataset import BuildDataset
from biorel.counts import Counts, Reason
from biorel.dataset.splits import fold_splits, hash_split, read_splits, sized_splits
from biorel.formats.chemprot import locate, read_chemprot
from biorel.formats.documents import read_documents
from biorel.knowledge.mesh import Mesh, resolve
from biorel.records import Annotated, Curation

_USUAL_LENGTH = len("MESH:D000001")


@dataclass(frozen=True)
class Sources:
    """The inputs, ready to be streamed any number of times: (split, document with its curations).

    `splits` is that of each document, None where it is told by a hash of the id; `primary` maps the alternate ids of a
    disease to the one that joins are made on; `mesh` tells which ids have surplus zeros.
    """

    config: BuildDataset
    splits: dict[str, str] | None
    excluded: frozenset[str]
    curations: dict[str, list[Curation]]
    primary: dict[str, str]
    mesh: Mesh

    def stream(self, counts: Counts) -> Iterator[tuple[str, Annotated]]:
        for split, annotated in _read(self.config, self.splits, counts):
            doc_id = annotated.document.doc_id
            if doc_id in self.excluded and split == "train":
                counts.add(Reason.DOCUMENT_EXCLUDED_FROM_TRAINING, doc_id)
                continue
            if self.config.ctd is not None:
                annotated = replace(annotated, curations=tuple(self.curations.get(doc_id, ())))
            yield split, self._known(annotated, counts)

    def _known(self, annotated: Annotated, counts: Counts) -> Annotated:
        """The document with its ids as joins are made on them."""

        def known(id_: str) -> str:
            if self.mesh.names and len(id_) > _USUAL_LENGTH and id_.startswith("MESH:"):
                found = resolve(self.mesh, id_)
                if found is None:
                    counts.add(Reason.LONG_ID_UNKNOWN_TO_MESH, id_)
                id_ = found or id_
            return self.primary.get(id_, id_)

        return replace(
            annotated,
            mentions=tuple(
                mention if mention.entity_id is None else replace(mention, entity_id=known(mention.entity_id))
                for mention in annotated.mentions
            ),
            curations=tuple(
                replace(curation, head_id=known(curation.head_id), tail_id=known(curation.tail_id))
                for curation in annotated.curations
            ),
        )


def find_splits(config: BuildDataset, counts: Counts) -> dict[str, str] | None:
    """The split of each document, from a file or drawn over all documents; None where a hash of the id tells it.

    Raises:
        InputError: the file or the documents cannot be read, or the documents are too few or too many.
    """
    if config.splits is not None:
        return read_splits(config.splits, counts)
    if config.split_sizes is None and config.folds is None:
        return None
    # a draw of exact sizes needs all ids; the books are kept when the documents are read for what is in them
    doc_ids = [annotated.document.doc_id for annotated in _unsplit(config, Counts())]
    if config.split_sizes is not None:
        return sized_splits(doc_ids, config.split_sizes, config.split_seed)
    return fold_splits(doc_ids, config.folds or 0, config.fold or 0, config.split_seed)


def _read(config: BuildDataset, splits: dict[str, str] | None, counts: Counts) -> Iterator[tuple[str, Annotated]]:
    """All documents with the split that each belongs to; the books are kept in `counts`."""
    if config.train or config.dev or config.test:
        for split, paths in (("train", config.train), ("dev", config.dev), ("test", config.test)):
            for annotated in read_documents(paths, counts) if paths else ():
                yield split, annotated
        return
    for annotated in _unsplit(config, counts):
        doc_id = annotated.document.doc_id
        if splits is None:
            yield hash_split(doc_id, config.dev_share, config.test_share), annotated
        elif doc_id in splits:
            yield splits[doc_id], annotated
        else:
            counts.add(Reason.DOCUMENT_WITHOUT_SPLIT, doc_id)


def _unsplit(config: BuildDataset, counts: Counts) -> Iterator[Annotated]:
    if config.documents:
        yield from read_documents(config.documents, counts)
    if config.chemprot is not None:
        abstracts, entities, relations = locate(config.chemprot)
        yield from read_chemprot(abstracts, entities, relations, counts)
