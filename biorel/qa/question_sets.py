"""The questions of one split with their documents, and what a reader finds: for train-reader and evaluate-reader."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from biorel.errors import InputError
from biorel.qa.features import DocumentFrequencies, distinct_words
from biorel.qa.metrics import Judged
from biorel.qa.network import Reader
from biorel.qa.passages import Passage, PassageWindower, all_passages
from biorel.qa.prediction import predict
from biorel.records import AnswerSpan, Document, Mention, Question
from biorel.tables import read_by_document, read_table


@dataclass(frozen=True)
class QuestionSet:
    """Questions, and by document id the texts and the linked mentions."""

    questions: tuple[Question, ...]
    texts: dict[str, str]
    mentions: dict[str, tuple[Mention, ...]]

    def of(self, doc_ids: Iterable[str]) -> QuestionSet:
        """The part of some documents."""
        kept = set(doc_ids)
        return QuestionSet(
            tuple(question for question in self.questions if question.doc_id in kept),
            {doc_id: text for doc_id, text in self.texts.items() if doc_id in kept},
            {doc_id: found for doc_id, found in self.mentions.items() if doc_id in kept},
        )

    def joined(self, other: QuestionSet) -> QuestionSet:
        """Both together; their documents are different ones."""
        return QuestionSet(
            (*self.questions, *other.questions), self.texts | other.texts, self.mentions | other.mentions
        )

    def passages(self, cutter: PassageWindower) -> list[Passage]:
        """All questions as the reader sees them.

        The other passages of a question are the documents of this set that mention the concept which it names.
        """
        vocabulary = {doc_id: distinct_words(text) for doc_id, text in self.texts.items()}
        asked = {question.entity_id for question in self.questions} - {""}
        holding: dict[str, set[str]] = {entity_id: set() for entity_id in asked}
        for doc_id, found in self.mentions.items():
            for mention in found:
                if mention.entity_id in holding:
                    holding[mention.entity_id].add(doc_id)
        companies = {
            entity_id: DocumentFrequencies.of(vocabulary[doc_id] for doc_id in doc_ids)
            for entity_id, doc_ids in holding.items()
        }
        return all_passages(self.questions, self.texts, companies, cutter)

    def judged(
        self, models: Sequence[Reader], passages: Sequence[Passage], token_budget: int, device: torch.device
    ) -> list[Judged]:
        """What the readers find for each question, beside what is right."""
        found = predict(models, passages, len(self.questions), token_budget=token_budget, device=device)
        return [
            Judged(question, self.texts[question.doc_id], self.mentions.get(question.doc_id, ()), candidates)
            for question, candidates in zip(self.questions, found, strict=True)
        ]


def split_ids(folder: Path, split: str) -> frozenset[str]:
    """The ids of the documents of one split.

    Raises:
        InputError: no such split.
    """
    return frozenset(one.doc_id for one in read_table(_place(folder, split) / "documents.parquet", Document))


def _place(folder: Path, split: str) -> Path:
    place = folder / split
    if not place.is_dir():
        raise InputError(f"{place}: no such split", "name a folder that biorel build-questions wrote")
    return place


def read_questions(folder: Path, split: str) -> QuestionSet:
    """One split of a folder that build-questions wrote.

    Raises:
        InputError: no such split, or it has no question.
    """
    place = _place(folder, split)
    questions = tuple(
        # the columns of a struct come as a dict
        replace(question, answers=tuple(AnswerSpan(**dict(span)) for span in question.answers))  # type: ignore[call-overload]
        for question in read_table(place / "questions.parquet", Question)
    )
    if not questions:
        raise InputError(f"{folder}: the {split} split has no question", "build it with documents for this split")
    texts = {one.doc_id: one.text for one in read_table(place / "documents.parquet", Document)}
    mentions = read_by_document(place / "mentions.parquet", Mention)
    return QuestionSet(questions, texts, {doc_id: tuple(found) for doc_id, found in mentions.items()})
