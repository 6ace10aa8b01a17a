"""The corpus of a dataset: its input files, parsed once, with the split and the curations of each document."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from biorel.counts import Counts, Reason
from biorel.dataset.splits import SplitRule
from biorel.dataset.spool import Spool, SpoolWriter
from biorel.errors import InputError
from biorel.formats.chemprot import locate, read_chemprot
from biorel.formats.documents import read_documents
from biorel.knowledge.mesh import Mesh, resolve
from biorel.records import Annotated, Curation

_USUAL_LENGTH = len("MESH:D000001")


@dataclass(frozen=True)
class CorpusFiles:
    """The input files: either the sets of a corpus (`train`, `dev`, `test`), or documents without a split.

    `chemprot` is a folder of ChemProt or DrugProt files; its documents have no split either.
    """

    train: Sequence[Path] = ()
    dev: Sequence[Path] = ()
    test: Sequence[Path] = ()
    documents: Sequence[Path] = ()
    chemprot: Path | None = None

    def read(self, counts: Counts) -> Iterator[tuple[str, Annotated]]:
        """Yield (split, document); the split is empty where the files do not give one.

        Raises:
            InputError: a file cannot be read.
        """
        for split, paths in (("train", self.train), ("dev", self.dev), ("test", self.test)):
            if paths:
                yield from ((split, annotated) for annotated in read_documents(paths, counts))
        if self.documents:
            yield from (("", annotated) for annotated in read_documents(self.documents, counts))
        if self.chemprot is not None:
            abstracts, entities, relations = locate(self.chemprot)
            yield from (("", annotated) for annotated in read_chemprot(abstracts, entities, relations, counts))


@dataclass(frozen=True)
class ConceptIds:
    """The ids on which mentions and curations are joined.

    Attributes:
        primary: maps each alternate id of a disease to the primary id.
        mesh: resolves MeSH ids that are written with superfluous zeros.
    """

    primary: Mapping[str, str]
    mesh: Mesh

    def canonical(self, id_: str, counts: Counts) -> str:
        """The id to join on. A long id that is not in MeSH is counted."""
        if len(id_) > _USUAL_LENGTH and self.mesh.names and id_.startswith("MESH:"):
            known = resolve(self.mesh, id_)
            if known is None:
                counts.add(Reason.LONG_ID_UNKNOWN_TO_MESH, id_)
            else:
                id_ = known
        return self.primary.get(id_, id_)


@dataclass(frozen=True)
class Corpus:
    """Documents on disk, to be streamed any number of times.

    Attributes:
        spool: all documents that were read.
        splits: the split of each document of the spool; empty for a document that is left out.
        doc_ids: the ids of the documents that have a split.
        ids: the ids on which mentions and curations are joined.
        curations: the curations of each document; None if the documents contain their own relation rows.
    """

    spool: Spool
    splits: Sequence[str]
    doc_ids: Collection[str]
    ids: ConceptIds
    curations: Mapping[str, Sequence[Curation]] | None = None

    def texts(self, splits: Collection[str]) -> Iterator[str]:
        """The texts of the documents in these splits."""
        for split, document in zip(self.splits, self.spool.documents(), strict=True):
            if split in splits:
                yield document.text

    def stream(self, counts: Counts) -> Iterator[tuple[str, Annotated]]:
        """Yield (split, document) with canonical ids, and with the curations of that document."""
        for split, annotated in zip(self.splits, self.spool.annotated(), strict=True):
            if split:
                yield split, self._joined(annotated, counts)

    def _joined(self, annotated: Annotated, counts: Counts) -> Annotated:
        doc_id = annotated.document.doc_id
        curations = annotated.curations if self.curations is None else self.curations.get(doc_id, ())
        mentions = []
        for mention in annotated.mentions:
            if mention.entity_id is not None:
                canonical = self.ids.canonical(mention.entity_id, counts)
                if canonical != mention.entity_id:
                    mention = replace(mention, entity_id=canonical)
            mentions.append(mention)
        return Annotated(
            annotated.document,
            tuple(mentions),
            tuple(
                replace(
                    curation,
                    head_id=self.ids.canonical(curation.head_id, counts),
                    tail_id=self.ids.canonical(curation.tail_id, counts),
                )
                for curation in curations
            ),
        )


def read_corpus(
    files: CorpusFiles, rule: SplitRule, excluded: Collection[str], ids: ConceptIds, folder: Path, counts: Counts
) -> Corpus:
    """Parse all files once and assign each document to a split.

    Args:
        files: the input files.
        rule: how documents that come without a split are assigned to one.
        excluded: ids of documents to keep out of the training set.
        ids: the ids on which mentions and curations are joined.
        folder: where the spool is written; the folder must not exist.
        counts: receives the counts of the readers, and the documents that are left out.

    Raises:
        InputError: a file cannot be read, a document is in two splits, the documents do not fit the rule, or no
            document has a split.
    """
    split_of = rule.assigner(counts)
    doc_ids: list[str] = []
    splits: list[str] = []
    with SpoolWriter(folder) as spool:
        for stated, annotated in files.read(counts):
            doc_id = annotated.document.doc_id
            # a draw of exact sizes is only possible once all ids are known
            split = stated or ("" if rule.is_drawn else split_of(doc_id))
            if split or rule.is_drawn:
                spool.write(annotated)
                doc_ids.append(doc_id)
                splits.append(split)
            else:
                counts.add(Reason.DOCUMENT_WITHOUT_SPLIT, doc_id)
    if rule.is_drawn:
        drawn = rule.draw(doc_ids)
        splits = [drawn[doc_id] for doc_id in doc_ids]
    assigned: dict[str, str] = {}
    for position, (doc_id, split) in enumerate(zip(doc_ids, splits, strict=True)):
        if split == "train" and doc_id in excluded:
            counts.add(Reason.DOCUMENT_EXCLUDED_FROM_TRAINING, doc_id)
            splits[position] = ""
        elif assigned.setdefault(doc_id, split) != split:
            raise InputError(
                f"document {doc_id} is in {assigned[doc_id]} and in {split}", "a document belongs to one split only"
            )
    if not assigned:
        raise InputError("no document in any split", "check --splits and --exclude-pmids")
    return Corpus(Spool(folder), splits, assigned.keys(), ids)
