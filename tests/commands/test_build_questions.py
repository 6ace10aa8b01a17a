"""build-questions: from the sample's dataset and from SQuAD JSON; its counts and its errors."""

from __future__ import annotations

import json

import pytest

from biorel.commands import build_questions
from biorel.config.build_questions import BuildQuestions
from biorel.counts import Reason
from biorel.errors import InputError
from biorel.records import Document, Pair, Question
from biorel.tables import read_table
from tests.command_runs import read_json

SPLITS = ("train", "dev", "test")


@pytest.fixture(scope="module")
def questions(dataset, tmp_path_factory):
    return build_questions.run(BuildQuestions(dataset=dataset, out=tmp_path_factory.mktemp("asked") / "q")).path


def table(folder, split, name, kind):
    return list(read_table(folder / split / f"{name}.parquet", kind))


def test_splits_follow_the_documents(dataset, questions):
    for split in SPLITS:
        documents = {row.doc_id for row in table(dataset, split, "documents", Document)}
        assert {row.doc_id for row in table(questions, split, "documents", Document)} == documents
        assert {row.doc_id for row in table(questions, split, "questions", Question)} <= documents


def test_every_positive_pair_answers_two_questions(dataset, questions):
    for split in SPLITS:
        facts = {
            (pair.doc_id, name, side, *ends)
            for pair in table(dataset, split, "pairs", Pair)
            for name in pair.relations
            for side, ends in (
                ("tail", (pair.head_id, pair.tail_id)),
                ("head", (pair.tail_id, pair.head_id)),
            )
        }
        answered = {
            (question.doc_id, question.relation, question.asks, question.entity_id, span["entity_id"])
            for question in table(questions, split, "questions", Question)
            for span in question.answers
        }
        assert answered == facts
        assert facts


def test_answer_spans_match_the_text(questions):
    texts = {document.doc_id: document.text for document in table(questions, "train", "documents", Document)}
    spans = [
        (question.doc_id, span)
        for question in table(questions, "train", "questions", Question)
        for span in question.answers
    ]
    assert spans
    assert all(texts[doc_id][span["start"] : span["end"]] == span["text"] for doc_id, span in spans)


def test_squad_json_is_written_and_read_again(questions, tmp_path):
    given = {split: (questions / split / "squad.json",) for split in SPLITS}
    again = build_questions.run(BuildQuestions(**given, vocabulary=300, out=tmp_path / "q")).path
    for split in SPLITS:
        before, after = (read_json(folder / split / "squad.json") for folder in (questions, again))
        assert before == after
    counts = ("documents", "questions", "answerable")
    for split in SPLITS:
        ours, theirs = (read_json(folder / "stats.json")[split] for folder in (questions, again))
        assert [ours[name] for name in counts] == [theirs[name] for name in counts]
    assert (again / "tokenizer.json").is_file()


def test_unanswerable_training_questions_can_be_left_out(dataset, questions, tmp_path):
    out = build_questions.run(BuildQuestions(dataset=dataset, unanswerable=0, out=tmp_path / "q")).path
    before, after = read_json(questions / "stats.json"), read_json(out / "stats.json")
    assert after["train"]["questions"] == after["train"]["answerable"] == before["train"]["answerable"]
    assert after["dev"] == before["dev"]
    left_out = read_json(out / "manifest.json")["counts"][Reason.QUESTION_UNANSWERABLE]
    assert left_out == before["train"]["questions"] - after["train"]["questions"]


def test_templates_override_the_shipped_ones(dataset, tmp_path):
    path, relation = tmp_path / "t.toml", "chemical_disease:therapeutic"
    path.write_text(f'[[question]]\nrelation = "{relation}"\nasks = "tail"\ntexts = ["Cure {{entity}}?"]')
    out = build_questions.run(BuildQuestions(dataset=dataset, templates=(path,), out=tmp_path / "q")).path
    texts = {
        question.text.split()[0]
        for question in table(out, "train", "questions", Question)
        if (question.relation, question.asks) == (relation, "tail")
    }
    assert texts == {"Cure"}


def test_rejects_a_document_in_two_splits(questions, tmp_path):
    path = questions / "dev" / "squad.json"
    with pytest.raises(InputError, match="is in train and in dev"):
        build_questions.run(BuildQuestions(train=(path,), dev=(path,), out=tmp_path / "q"))
    assert not (tmp_path / "q").exists()


def test_rejects_input_without_a_question(tmp_path):
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"data": []}))
    with pytest.raises(InputError, match="no split has a question"):
        build_questions.run(BuildQuestions(train=(path,), out=tmp_path / "q"))


def test_rejects_both_kinds_of_input_and_none():
    for given in ({}, {"dataset": "d", "train": ["s.json"]}):
        with pytest.raises(ValueError, match="either --dataset, or"):
            BuildQuestions.model_validate({"out": "q", **given})
