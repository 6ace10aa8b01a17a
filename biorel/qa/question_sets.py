"""Reads the questions of a split with their documents, for `train-reader` and `evaluate-reader`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from biorel.dataset.splits import drawn_order
from biorel.errors import InputError
from biorel.qa.features import DocumentFrequencies, distinct_words
from biorel.qa.metrics import QuestionResult
from biorel.qa.passages import Passage, PassageWindower, build_passages
from biorel.qa.prediction import predict
from biorel.qa.reader import Reader
from biorel.records import AnswerSpan, Document, Mention, Question
from biorel.tables import read_by_document, read_table


@dataclass(frozen=True)
class QuestionSet:
    """Questions, and the texts and linked mentions of their documents by document id."""

    questions: tuple[Question, ...]
    texts: dict[str, str]
    mentions: dict[str, tuple[Mention, ...]]

    def restrict(self, doc_ids: Iterable[str]) -> QuestionSet:
        """The questions about some of the documents, with these documents."""
        kept = set(doc_ids)
        return QuestionSet(
            tuple(question for question in self.questions if question.doc_id in kept),
            {doc_id: text for doc_id, text in self.texts.items() if doc_id in kept},
            {doc_id: mentions for doc_id, mentions in self.mentions.items() if doc_id in kept},
        )

    def union(self, other: QuestionSet) -> QuestionSet:
        """The union of two sets that have no document in common."""
        return QuestionSet(
            (*self.questions, *other.questions), self.texts | other.texts, self.mentions | other.mentions
        )

    def passages(self, windower: PassageWindower) -> list[Passage]:
        """The passages of all questions.

        The documents of this set that mention the concept a question names are the question's other passages.
        """
        vocabulary = {doc_id: distinct_words(text) for doc_id, text in self.texts.items()}
        doc_ids: dict[str, set[str]] = {
            entity_id: set() for entity_id in {question.entity_id for question in self.questions} - {""}
        }
        for doc_id, mentions in self.mentions.items():
            for mention in mentions:
                if mention.entity_id in doc_ids:
                    doc_ids[mention.entity_id].add(doc_id)
        document_frequencies = {
            entity_id: DocumentFrequencies.of(vocabulary[doc_id] for doc_id in mentioning)
            for entity_id, mentioning in doc_ids.items()
        }
        return build_passages(self.questions, self.texts, document_frequencies, windower)

    def results(
        self, readers: Sequence[Reader], passages: Sequence[Passage], token_budget: int, device: torch.device
    ) -> list[QuestionResult]:
        """The readers' candidates for each question, with its document.

        Args:
            passages: from `passages`, which may be computed once for several evaluations.
        """
        candidates = predict(readers, passages, len(self.questions), token_budget=token_budget, device=device)
        return [
            QuestionResult(question, self.texts[question.doc_id], self.mentions.get(question.doc_id, ()), spans)
            for question, spans in zip(self.questions, candidates, strict=True)
        ]


def read_questions(folder: Path, split: str) -> QuestionSet:
    """Read one split of a folder that `build-questions` wrote.

    Raises:
        InputError: the split is missing or has no question.
    """
    part = _split_folder(folder, split)
    questions = tuple(
        # the table's structs are read as dicts
        replace(question, answers=tuple(AnswerSpan(**dict(span)) for span in question.answers))  # type: ignore[call-overload]
        for question in read_table(part / "questions.parquet", Question)
    )
    if not questions:
        raise InputError(f"{folder}: the {split} split has no question", "build it with documents for this split")
    texts = {document.doc_id: document.text for document in read_table(part / "documents.parquet", Document)}
    mentions = read_by_document(part / "mentions.parquet", Mention)
    return QuestionSet(questions, texts, {doc_id: tuple(rows) for doc_id, rows in mentions.items()})


def read_split_ids(folder: Path, split: str) -> frozenset[str]:
    """The document ids of one split.

    Raises:
        InputError: the split is missing.
    """
    documents = read_table(_split_folder(folder, split) / "documents.parquet", Document)
    return frozenset(document.doc_id for document in documents)


def _split_folder(folder: Path, split: str) -> Path:
    part = folder / split
    if not part.is_dir():
        raise InputError(f"{part}: no such split", "give a folder that biorel build-questions wrote")
    return part


def read_training_sets(
    folder: Path, *, folds: int, resplit_dev: int, seed: int
) -> list[tuple[QuestionSet, QuestionSet]]:
    """The training and dev set of each reader: the splits of the folder, or their union divided anew by `seed`.

    Args:
        folds: with 2 or more, one reader for each fold; the fold is the dev set of the reader.
        resplit_dev: if positive, one reader with this number of dev documents.

    Raises:
        InputError: a split is missing, there are too few documents, or a set has no answerable question.
    """
    training, dev = (read_questions(folder, split) for split in ("train", "dev"))
    sets = [(training, dev)]
    if folds > 1 or resplit_dev:
        both = training.union(dev)
        order = drawn_order(both.texts, seed)
        if len(order) < folds or len(order) <= resplit_dev:
            option = f"--folds {folds}" if folds > 1 else f"--resplit-dev {resplit_dev}"
            raise InputError(f"{option}: too few documents, train and dev have only {len(order)} in total")
        dev_ids = [order[:resplit_dev]] if resplit_dev else [order[number::folds] for number in range(folds)]
        sets = [(both.restrict(set(order) - set(ids)), both.restrict(ids)) for ids in dev_ids]
    for training, dev in sets:
        if not any(question.answers for question in dev.questions):
            raise InputError(
                f"{folder}: no dev question has an answer",
                "give dev documents with answerable questions, on which decoding is tuned",
            )
        if not any(question.answers for question in training.questions):
            raise InputError(
                f"{folder}: no train question has an answer", "give train documents with answerable questions"
            )
    return sets
