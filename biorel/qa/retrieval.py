"""Chooses the documents that `ask` searches, and writes the question to each from a template or the user's words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from biorel.counts import Counts, Reason
from biorel.dataset.candidates import EntityKey
from biorel.errors import InputError
from biorel.formats import documents as records
from biorel.formats.documents import DOCUMENTS
from biorel.qa.passages import PassageWindower
from biorel.qa.questions import Templates, first_name, question_text
from biorel.records import Annotated, Question
from biorel.text.alignment import words

# a question is encoded again with every window of every document
_LONGEST_QUESTION = 200


@dataclass(frozen=True)
class RelationQuery:
    """A query for the partners of one concept in a relation.

    Attributes:
        asks: the side asked for, `tail` or `head`.
    """

    relation: str
    asks: str
    entity_id: str


@dataclass(frozen=True)
class DocumentQuestions:
    """The documents to search, with a question to each.

    Attributes:
        documents: with their linked mentions.
        questions: one for each of `documents`.
        text: the question, for the user.
    """

    documents: tuple[Annotated, ...]
    questions: tuple[Question, ...]
    text: str


def ask_by_template(
    query: RelationQuery, templates: Templates, documents: Sequence[Annotated], answer_type: str, counts: Counts
) -> DocumentQuestions:
    """Ask each document that mentions the concept, with the first name that it uses for it.

    Raises:
        ConfigError: there is no template for the relation and side.
    """
    names: Counter[str] = Counter()
    asked, questions = [], []
    for item in documents:
        types = {mention.type for mention in item.mentions if mention.entity_id == query.entity_id}
        if not types:
            counts.add(Reason.DOCUMENT_WITHOUT_CONCEPT, item.document.doc_id)
            continue
        name = first_name(EntityKey(query.entity_id, min(types)), item.mentions)
        names[name] += 1
        text = question_text(templates, query.relation, query.asks, name)
        question = _free_question(item, text, answer_type)
        asked.append(item)
        questions.append(replace(question, relation=query.relation, asks=query.asks, entity_id=query.entity_id))
    name = min(names, key=lambda name: (-names[name], name), default=query.entity_id)
    return DocumentQuestions(tuple(asked), tuple(questions), question_text(templates, query.relation, query.asks, name))


def ask_in_words(text: str, documents: Sequence[Annotated], answer_type: str, counts: Counts) -> DocumentQuestions:
    """Ask each document that mentions a concept named in the question, or all documents if it names none.

    A reader is trained on questions about concepts that the document mentions. For other documents its answers would be
    arbitrary.
    """
    named = _named_concepts(text, documents)
    asked, questions = [], []
    for item in documents:
        mentioned = [mention.entity_id for mention in item.mentions if mention.entity_id and mention.entity_id in named]
        if named and not mentioned:
            counts.add(Reason.DOCUMENT_WITHOUT_QUESTION_CONCEPT, item.document.doc_id)
            continue
        asked.append(item)
        entity_id = mentioned[0] if mentioned else ""
        questions.append(replace(_free_question(item, text, answer_type), entity_id=entity_id))
    return DocumentQuestions(tuple(asked), tuple(questions), text)


def _free_question(item: Annotated, text: str, answer_type: str) -> Question:
    doc_id = item.document.doc_id
    return Question(doc_id, doc_id, text, "", "", "", answer_type, (), ())


def _named_concepts(question: str, documents: Sequence[Annotated]) -> frozenset[str]:
    """The concepts whose name in some document occurs in the question, ignoring case."""
    ids: dict[tuple[str, ...], set[str]] = {}
    for item in documents:
        for mention in item.mentions:
            if mention.entity_id is not None:
                ids.setdefault(_folded_words(mention.text), set()).add(mention.entity_id)
    asked = _folded_words(question)
    lengths = {len(name) for name in ids}
    phrases = {asked[first : first + length] for first in range(len(asked)) for length in lengths}
    return frozenset(entity_id for name in phrases & ids.keys() for entity_id in ids[name])


def _folded_words(text: str) -> tuple[str, ...]:
    return tuple(word.text for word in words(text.casefold()))


def check_question(question: str, windower: PassageWindower) -> None:
    """Check that a reader can answer a question in the user's words.

    Raises:
        InputError: the question has no word, too many words, or no word that the vocabulary covers.
    """
    alphanumeric = [word.text for word in words(question) if word.text.isalnum()]
    start = question.strip()[:40]
    if not alphanumeric:
        raise InputError(f"the question {start!r} contains no word", "ask a question in quotes")
    if len(alphanumeric) > _LONGEST_QUESTION:
        raise InputError(
            f"the question {start!r}... has {len(alphanumeric):,} words, more than {_LONGEST_QUESTION}",
            "ask in one sentence; put the text to search into a file for --over",
        )
    if not any(windower.known_tokens(word) for word in alphanumeric):
        raise InputError(
            f"the reader's vocabulary covers no word of the question {start!r}",
            "ask in the language and script that the reader was trained on",
        )


def read_documents(paths: Sequence[Path], counts: Counts) -> tuple[list[Annotated], tuple[str, ...]]:
    """Read all documents of files and folders. Of several documents with the same id, only the first is kept.

    Returns:
        The documents, and the places and reasons of the first few bad records.

    Raises:
        InputError: a file cannot be read, or there is no document.
    """
    bad_places: list[str] = []
    documents = list(records.read_documents(_list_files(paths), counts, bad_places))
    if not documents:
        detail = bad_places[0] if bad_places else ", ".join(map(str, paths))
        raise InputError(f"no document to read ({detail})", "give files or folders of documents with --over")
    return documents, tuple(bad_places)


def _list_files(paths: Sequence[Path]) -> Iterator[Path]:
    """Files and biorel folders unchanged; for any other folder its files in alphabetical order.

    Raises:
        InputError: a folder without a file.
    """
    for path in paths:
        if not path.is_dir() or (path / DOCUMENTS).is_file():
            yield path
            continue
        files = sorted(item for item in path.iterdir() if item.is_file() and not item.name.startswith("."))
        if not files:
            raise InputError(f"{path}: this folder has no file", "give files or folders of documents with --over")
        yield from files
