"""The documents that `ask` reads, and what each of them is asked: a question in words, or a template's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from biorel.config import Ask
from biorel.counts import Counts, Reason
from biorel.dataset.candidates import EntityKey
from biorel.errors import InputError
from biorel.extraction.annotator import open_annotator
from biorel.formats.documents import BAD_TOLD, DOCUMENTS, read_records
from biorel.formats.identifiers import concept_id, document_key
from biorel.qa.passages import PassageWindower
from biorel.qa.questions import first_name
from biorel.qa.templates import HEAD, TAIL, ask, read_templates
from biorel.records import Annotated, BadRecord, Question
from biorel.resources import resource
from biorel.text.alignment import words

_LONGEST = 200  # words of a question; it is read anew with each window of each abstract


@dataclass(frozen=True)
class Inquiry:
    """What is read and asked.

    Attributes:
        documents: with their linked mentions.
        questions: one for each document that is asked, in the order of `documents`.
        bad_places: the first few bad records.
        shown: the question as it is told to the user.
    """

    documents: tuple[Annotated, ...]
    questions: tuple[Question, ...]
    bad_places: tuple[str, ...]
    shown: str


def inquire(config: Ask, cutter: PassageWindower, counts: Counts) -> Inquiry:
    """Read all documents, find the entities of those that bring none, and put the question to each.

    Raises:
        BiorelError: nothing can be read, the question holds no word that the reader knows, or there is no template.
    """
    if config.question is not None:
        _check_words(config.question, cutter)
    templates = read_templates([*sorted(resource("questions").glob("*.toml")), *config.templates])
    relation, entity_id = config.relation or "", concept_id(config.head or config.tail or "", "") or ""
    asks = TAIL if config.head is not None else HEAD
    if relation:
        ask(templates, relation, asks, entity_id)  # a fault is told before anything is read
    documents, bad_places = _read(config, counts)
    documents = _annotated(config, documents, counts)
    if not relation:
        return _in_words((config.question or "").strip(), config.type, documents, bad_places, counts)

    names: Counter[str] = Counter()
    asked, questions_ = [], []
    for item in documents:
        types = {mention.type for mention in item.mentions if mention.entity_id == entity_id}
        if not types:
            counts.add(Reason.DOCUMENTS_THAT_DO_NOT_MENTION_CONCEPT, item.document.doc_id)
            continue
        name = first_name(EntityKey(entity_id, min(types)), item.mentions)
        names[name] += 1
        question = _question(item, ask(templates, relation, asks, name), config.type)
        asked.append(item)
        questions_.append(replace(question, relation=relation, asks=asks, entity_id=entity_id))
    name = min(names, key=lambda one: (-names[one], one), default=entity_id)
    return Inquiry(tuple(asked), tuple(questions_), bad_places, ask(templates, relation, asks, name))


def _in_words(
    text: str, type_: str, documents: Sequence[Annotated], bad_places: tuple[str, ...], counts: Counts
) -> Inquiry:
    """Where the question names concepts, it is put to the documents that mention one; else to all.

    A reader has learned from questions about what a text mentions; of any other text it would tell anything.
    """
    named = _named(text, documents)
    asked, questions = [], []
    for item in documents:
        here = [mention.entity_id for mention in item.mentions if mention.entity_id and mention.entity_id in named]
        if named and not here:
            counts.add(Reason.DOCUMENTS_THAT_MENTION_NOTHING_THAT_QUESTION_NAMES, item.document.doc_id)
            continue
        asked.append(item)
        questions.append(replace(_question(item, text, type_), entity_id=here[0] if here else ""))
    return Inquiry(tuple(asked), tuple(questions), bad_places, text)


def _named(question: str, documents: Sequence[Annotated]) -> frozenset[str]:
    """The concepts that the question calls by a name that some document calls them by, whatever the case."""
    ids: dict[tuple[str, ...], set[str]] = {}
    for item in documents:
        for mention in item.mentions:
            if mention.entity_id is not None:
                ids.setdefault(_folded(mention.text), set()).add(mention.entity_id)
    asked = _folded(question)
    lengths = {len(name) for name in ids}
    runs = {asked[first : first + length] for first in range(len(asked)) for length in lengths}
    return frozenset(id_ for name in runs & ids.keys() for id_ in ids[name])


def _folded(text: str) -> tuple[str, ...]:
    return tuple(word.text for word in words(text.casefold()))


def _check_words(question: str, cutter: PassageWindower) -> None:
    found = [word.text for word in words(question) if word.text.isalnum()]
    if not found:
        raise InputError(f"the question {question.strip()[:40]!r} holds no word", "ask in words, in quotes")
    if len(found) > _LONGEST:
        raise InputError(
            f"the question {question.strip()[:40]!r}... has {len(found):,} words, more than {_LONGEST}",
            "ask in a sentence; what is to be read goes into a file, for --over",
        )
    if not any(cutter.known_words(word) for word in found):
        raise InputError(
            f"the reader knows no word of the question {question.strip()[:40]!r}",
            "ask in the language and script that it was trained on",
        )


def _question(item: Annotated, text: str, answer_type: str) -> Question:
    doc_id = item.document.doc_id
    return Question(doc_id, doc_id, text, "", "", "", answer_type, (), ())


def _read(config: Ask, counts: Counts) -> tuple[list[Annotated], tuple[str, ...]]:
    """All documents of all files, of a repeated id the first."""
    documents: dict[int | str, Annotated] = {}
    bad_places: list[str] = []
    for path in _files(config.over):
        for line, record in read_records(path, counts):
            if isinstance(record, BadRecord):
                counts.add(Reason.BAD_RECORDS, f"{path}:{line}")
                if len(bad_places) < BAD_TOLD:
                    bad_places.append(f"{path}:{line}: {record.reason}")
            elif documents.setdefault(document_key(record.document.doc_id), record) is not record:
                counts.add(Reason.DOCUMENTS_DROPPED_REPEATED, f"{path} {record.document.doc_id}")
    if not documents:
        told = bad_places[0] if bad_places else ", ".join(map(str, config.over))
        raise InputError(f"no abstract to read ({told})", "name files or folders of documents with --over")
    return list(documents.values()), tuple(bad_places)


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    """Files as they are, a folder of biorel as its table, the files of any other folder in alphabetical order.

    Raises:
        InputError: a folder without a file.
    """
    for path in paths:
        if not path.is_dir() or (path / DOCUMENTS).is_file():
            yield path
            continue
        files = sorted(item for item in path.iterdir() if item.is_file() and not item.name.startswith("."))
        if not files:
            raise InputError(f"{path}: no file in this folder", "name files or folders of documents with --over")
        yield from files


def _annotated(config: Ask, documents: list[Annotated], counts: Counts) -> list[Annotated]:
    """The documents; those without mentions are tagged and linked."""
    untagged = sum(not item.mentions for item in documents)
    if not untagged:
        return documents
    annotator = open_annotator(
        tagger=config.tagger,
        tagger_model=config.tagger_model,
        linker=config.linker,
        n_process=config.n_process,
        counts=counts,
    )
    if annotator is None:
        return documents
    counts.add(Reason.DOCUMENTS_TAGGED, count=untagged)
    return annotator.fill(documents)
