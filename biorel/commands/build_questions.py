"""build-questions: a dataset of pairs, or SQuAD JSON -> questions with answer spans, by split."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tokenizers import Tokenizer

from biorel import artifacts
from biorel.config import BuildQuestions
from biorel.counts import Counts, Reason
from biorel.dataset.candidates import link
from biorel.dataset.labels import read_labels
from biorel.dataset.splits import SPLITS
from biorel.errors import InputError
from biorel.formats.squad import read_squad, write_squad
from biorel.qa.questions import document_questions
from biorel.qa.templates import read_templates
from biorel.records import Document, Mention, Pair, Question
from biorel.resources import resource
from biorel.tables import read_by_document, read_table, write_table
from biorel.text.tokenizer import import_subword_nmt, learn_bpe, load_tokenizer, save_tokenizer

Progress = Callable[[str], None]


class Asked(NamedTuple):
    """A document with its mentions and the questions to it."""

    document: Document
    mentions: tuple[Mention, ...]
    questions: tuple[Question, ...]


def run(config: BuildQuestions, progress: Progress = lambda line: None) -> Path:
    """Write the folder `config.out`: documents, mentions, questions and SQuAD JSON of each split; returns it.

    Raises:
        BiorelError: an input that cannot be read, a relation without a template, a document in two splits, or no
            question at all.
    """
    with artifacts.folder("build-questions", config, config.out, force=config.force) as artifact:
        counts = artifact.counts
        splits = {split: list(_asked(config, split, counts)) for split in SPLITS}
        _check_splits(splits)
        splits["train"] = [_thinned(one, config.unanswerable, counts) for one in splits["train"]]
        if not any(one.questions for asked in splits.values() for one in asked):
            raise InputError("no question in any split", "documents need linked entities of the types of a relation")
        for split, asked in splits.items():
            _write(artifact.path / split, asked)
        save_tokenizer(_tokenizer(config, splits["train"]), artifact.path / "tokenizer.json")
        stats = {split: _counts(asked) for split, asked in splits.items()}
        artifacts.write_json(artifact.path / "stats.json", stats)
        for split, numbers in stats.items():
            progress(
                f"{split}: {numbers['documents']} documents, {numbers['questions']} questions, "
                f"{numbers['answerable']} of them answerable, {numbers['answers']} answer spans"
            )
    return config.out


def _asked(config: BuildQuestions, split: str, counts: Counts) -> Iterator[Asked]:
    if config.dataset is None:
        paths: tuple[Path, ...] = getattr(config, split)
        for path in paths:
            yield from (Asked(document, (), questions) for document, questions in read_squad(path, counts))
        return
    schema, _ = read_labels(config.dataset)
    shipped = sorted(resource("questions").glob("*.toml"))
    templates = read_templates([*shipped, *config.templates])
    folder = config.dataset / split
    mentions = read_by_document(folder / "mentions.parquet", Mention)
    pairs = read_by_document(folder / "pairs.parquet", Pair)
    for document in read_table(folder / "documents.parquet", Document):
        linked = link(mentions.get(document.doc_id, ()), "drop")
        found = document_questions(document.doc_id, linked, pairs.get(document.doc_id, ()), schema, templates)
        counts.add(Reason.DOCUMENTS_READ)
        yield Asked(document, linked, tuple(found))


def _check_splits(splits: dict[str, list[Asked]]) -> None:
    seen: dict[str, str] = {}
    for split, asked in splits.items():
        for one in asked:
            if seen.setdefault(one.document.doc_id, split) != split:
                raise InputError(
                    f"document {one.document.doc_id} is in {seen[one.document.doc_id]} and in {split}",
                    "a split is by document",
                )


def _thinned(one: Asked, share: float, counts: Counts) -> Asked:
    """The document without some of its unanswerable questions."""
    kept = tuple(question for question in one.questions if question.answers or _draw(question.question_id) < share)
    if len(kept) < len(one.questions):
        counts.add(Reason.UNANSWERABLE_QUESTIONS_BY_UNANSWERABLE, count=len(one.questions) - len(kept))
    return one._replace(questions=kept)


def _draw(question_id: str) -> float:
    """A number in [0, 1) that hangs on the id alone."""
    return int.from_bytes(hashlib.sha256(question_id.encode()).digest()[:6], "big") / (1 << 48)


def _write(folder: Path, asked: Sequence[Asked]) -> None:
    folder.mkdir()
    write_table(folder / "documents.parquet", Document, (one.document for one in asked))
    write_table(folder / "mentions.parquet", Mention, (mention for one in asked for mention in one.mentions))
    write_table(folder / "questions.parquet", Question, (question for one in asked for question in one.questions))
    write_squad(folder / "squad.json", ((one.document, one.questions) for one in asked))


def _tokenizer(config: BuildQuestions, training: Iterable[Asked]) -> Tokenizer:
    if config.tokenizer is not None:
        return load_tokenizer(config.tokenizer)
    if config.dataset is not None:
        return load_tokenizer(config.dataset / "tokenizer.json")
    texts = [text for one in training for text in (one.document.text, *(question.text for question in one.questions))]
    return import_subword_nmt(config.merges, texts) if config.merges else learn_bpe(texts, config.vocabulary)


def _counts(asked: Sequence[Asked]) -> dict[str, Any]:
    questions = [question for one in asked for question in one.questions]
    by_relation = Counter(f"{question.relation}:{question.asks}" for question in questions if question.relation)
    return {
        "documents": len(asked),
        "questions": len(questions),
        "answerable": sum(bool(question.answers) for question in questions),
        "answers": sum(len(question.answers) for question in questions),
        "by_relation": dict(sorted(by_relation.items())),
    }
