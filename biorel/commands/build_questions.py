"""build-questions: a dataset of pairs or SQuAD JSON -> questions with answer spans, by split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tokenizers import Tokenizer

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.build_questions import BuildQuestions
from biorel.counts import Counts, Reason
from biorel.dataset.candidates import link
from biorel.dataset.labels import read_labels
from biorel.dataset.splits import SPLITS
from biorel.errors import InputError
from biorel.formats.squad import read_squad, write_squad
from biorel.progress import SILENT, Progress
from biorel.qa.questions import document_questions, read_templates, sample_unanswerable
from biorel.records import Document, Mention, Pair, Question
from biorel.resources import resource
from biorel.tables import read_by_document, read_table, write_table
from biorel.text.tokenizer import import_subword_nmt, learn_bpe, load_tokenizer, save_tokenizer


class QuestionedDocument(NamedTuple):
    """A document with its mentions and the questions about it."""

    document: Document
    mentions: tuple[Mention, ...]
    questions: tuple[Question, ...]


def run(config: BuildQuestions, progress: Progress = SILENT) -> Artifact:
    """Write the folder `config.out`: documents, mentions, questions and SQuAD JSON of each split.

    Raises:
        BiorelError: an input cannot be read, a relation has no template, a document is in two splits, or no split
            has a question.
    """
    with artifacts.folder("build-questions", config.options(), config.out, force=config.force) as output:
        counts = output.counts
        splits = {split: list(_read_split(config, split, counts)) for split in SPLITS}
        _check_splits(splits)
        splits["train"] = [_sample(item, config.unanswerable, counts) for item in splits["train"]]
        counts.add(Reason.QUESTIONS_KEPT, count=sum(len(item.questions) for items in splits.values() for item in items))
        if not any(item.questions for items in splits.values() for item in items):
            raise InputError(
                "no split has a question", "give documents with linked entities whose types have a relation"
            )
        for split, items in splits.items():
            _write(output.path / split, items)
        save_tokenizer(_tokenizer(config, splits["train"]), output.path / "tokenizer.json")
        stats = {split: _statistics(items) for split, items in splits.items()}
        artifacts.write_json(output.path / "stats.json", stats)
    summary = [
        f"{split}: {numbers['documents']} documents, {numbers['questions']} questions, "
        f"{numbers['answerable']} of them answerable, {numbers['answers']} answer spans"
        for split, numbers in stats.items()
    ]
    return Artifact(label="questions", path=config.out, summary=summary)


def _read_split(config: BuildQuestions, split: str, counts: Counts) -> Iterator[QuestionedDocument]:
    if config.dataset is None:
        files = {"train": config.train, "dev": config.dev, "test": config.test}
        for path in files[split]:
            for document, questions in read_squad(path, counts):
                yield QuestionedDocument(document, (), questions)
        return
    schema, _ = read_labels(config.dataset)
    templates = read_templates([*sorted(resource("questions").glob("*.toml")), *config.templates])
    folder = config.dataset / split
    mentions = read_by_document(folder / "mentions.parquet", Mention)
    pairs = read_by_document(folder / "pairs.parquet", Pair)
    for document in read_table(folder / "documents.parquet", Document):
        doc_id = document.doc_id
        linked = link(mentions.get(doc_id, ()), "drop")
        questions = tuple(document_questions(doc_id, linked, pairs.get(doc_id, ()), schema, templates))
        counts.add(Reason.RECORDS_READ)
        counts.add(Reason.DOCUMENTS_READ)
        counts.add(Reason.DOCUMENTS_KEPT)
        counts.add(Reason.QUESTIONS_READ, count=len(questions))
        yield QuestionedDocument(document, linked, questions)


def _check_splits(splits: dict[str, list[QuestionedDocument]]) -> None:
    split_of: dict[str, str] = {}
    for split, items in splits.items():
        for item in items:
            doc_id = item.document.doc_id
            if split_of.setdefault(doc_id, split) != split:
                raise InputError(
                    f"document {doc_id} is in {split_of[doc_id]} and in {split}",
                    "all questions about a document must be in the same split",
                )


def _sample(item: QuestionedDocument, share: float, counts: Counts) -> QuestionedDocument:
    """The document with only a share of its unanswerable questions."""
    kept = sample_unanswerable(item.questions, share)
    if len(kept) < len(item.questions):
        counts.add(Reason.QUESTION_UNANSWERABLE, count=len(item.questions) - len(kept))
    return item._replace(questions=kept)


def _write(folder: Path, items: Sequence[QuestionedDocument]) -> None:
    folder.mkdir()
    write_table(folder / "documents.parquet", Document, (item.document for item in items))
    write_table(folder / "mentions.parquet", Mention, (mention for item in items for mention in item.mentions))
    write_table(folder / "questions.parquet", Question, (question for item in items for question in item.questions))
    write_squad(folder / "squad.json", ((item.document, item.questions) for item in items))


def _tokenizer(config: BuildQuestions, training: Iterable[QuestionedDocument]) -> Tokenizer:
    if config.tokenizer is not None:
        return load_tokenizer(config.tokenizer)
    if config.dataset is not None:
        return load_tokenizer(config.dataset / "tokenizer.json")
    texts = [
        text for item in training for text in (item.document.text, *(question.text for question in item.questions))
    ]
    return import_subword_nmt(config.merges, texts) if config.merges else learn_bpe(texts, config.vocabulary)


def _statistics(items: Sequence[QuestionedDocument]) -> dict[str, Any]:
    """The content of stats.json for one split."""
    questions = [question for item in items for question in item.questions]
    by_relation = Counter(f"{question.relation}:{question.asks}" for question in questions if question.relation)
    return {
        "documents": len(items),
        "questions": len(questions),
        "answerable": sum(bool(question.answers) for question in questions),
        "answers": sum(len(question.answers) for question in questions),
        "by_relation": dict(sorted(by_relation.items())),
    }
